import { pipeline } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import { TextDocument } from 'vscode-languageserver-textdocument';
import {
  CodeLensRefreshRequest,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  ProposedFeatures,
  TextDocuments,
  createConnection,
} from 'vscode-languageserver/node';
import { errorText } from '../diagnostics/message_text.ts';
import { CheckClient } from './check_client.ts';
import { CoverageCounts } from './coverage_counts.ts';
import { Diagnosing } from './diagnosing.ts';
import { Framing } from './framing.ts';
import { freeMemory } from './free_memory.ts';
import { bindFeatures } from './features/bind.ts';
import { CAPABILITIES } from './features/capabilities.ts';
import { nameOfUri, pathOfUri } from './open_file.ts';
import { Project } from './project.ts';
import { ProtocolOrder } from './protocol_order.ts';
import type { RecordedTraffic } from './recorded_traffic.ts';
import type { Serving } from './serving.ts';
import { DEFAULTS, type Settings, settingsOf } from './settings.ts';

/** Freeing memory takes some 30 ms: unnoticeable after this idle time. */
const REST_MS = 3_000;
const WATCHED = { watchers: [{ globPattern: '**/*.{yaml,yml,json}' }] };
/** Cases of a user may take any time, and their thread much memory. */
const RUN_LIMITS = { orderMs: 30_000, idleMs: 60_000 };
/** Formatting is asked for now and then. */
const FORMAT_LIMITS = { orderMs: 120_000, idleMs: 20_000 };

interface Session {
  settings: Settings;
  recorded: RecordedTraffic | null;
  /** What the editor can do. */
  asksForSettings: boolean;
  watches: boolean;
  refreshesLenses: boolean;
}

export interface LspOptions {
  readonly version: string;
  /** Starts the thread that runs `serveChecks`. */
  readonly startChecker: () => Worker;
}

/**
 * Serves an editor over standard input and output until its input ends; returns whether it asked the server to shut down
 * before. Threads may still be busy then, though nothing can be answered any more.
 */
export function serveLsp(options: LspOptions): Promise<boolean> {
  const { stdin } = process;
  const input = new Framing();
  const order = new ProtocolOrder(input);
  input.once('error', (error) => process.stderr.write(`${errorText(error)}\n`));
  pipeline(stdin, input, () => undefined);
  const serving = startServing(options, order);
  const { connection, documents } = serving;
  bindFeatures(serving);
  documents.listen(connection);
  connection.listen();
  return new Promise((resolve) => {
    const ended = (): void => resolve(order.isShutDown);
    input.once('end', ended).once('close', ended);
    // An input that ended before says so no more.
    if (stdin.readableEnded || stdin.destroyed) ended();
  });
}

function startServing({ version, startChecker }: LspOptions, order: ProtocolOrder): Serving {
  const connection = createConnection(ProposedFeatures.all, order.reader, order.writer, {
    messageStrategy: order,
  });
  const documents = new TextDocuments(TextDocument);
  const checks = new CheckClient(startChecker);
  const runs = new CheckClient(startChecker, RUN_LIMITS);
  const formatter = new CheckClient(startChecker, FORMAT_LIMITS);
  const project = new Project(
    (uri) => documents.get(uri),
    () => documents.all(),
  );
  const session: Session = {
    settings: DEFAULTS,
    recorded: null,
    asksForSettings: false,
    watches: false,
    refreshesLenses: false,
  };
  const settings = () => session.settings;
  const coverage = new CoverageCounts({ project, runs, settings });
  const diagnosing = new Diagnosing({
    checks,
    setText: (name, text) => {
      for (const each of [checks, runs, formatter]) each.setText(name, text);
    },
    settings,
    publish: (params) => {
      tried(connection.sendDiagnostics(params));
      // What is dead has a lens.
      if (session.refreshesLenses) tried(connection.sendRequest(CodeLensRefreshRequest.type));
    },
    log: (message) => connection.console.error(message),
  });
  const traffic = () => {
    const { recording } = settings();
    return recording === null ? null : (session.recorded?.of(project.pathOf(recording)) ?? null);
  };
  const serving = {
    connection,
    documents,
    project,
    checks,
    runs,
    formatter,
    coverage,
    diagnosing,
    settings,
    traffic,
  };
  bindLifecycle(serving, session, version);
  return serving;
}

/** Follows what the editor says of itself, its settings, its documents and the files on disk. */
function bindLifecycle(
  { connection, documents, project, coverage, diagnosing }: Serving,
  session: Session,
  version: string,
): void {
  const rest = setTimeout(() => {
    project.rest();
    freeMemory();
  }, REST_MS).unref();
  // Readers of logs are loaded for those who name one.
  const loadRecorded = async (): Promise<void> => {
    if (session.settings.recording === null || session.recorded !== null) return;
    session.recorded = new (await import('./recorded_traffic.ts')).RecordedTraffic();
  };
  const readSettings = async (pushed: unknown): Promise<void> => {
    const { asksForSettings } = session;
    session.settings = settingsOf(
      asksForSettings ? await connection.workspace.getConfiguration('edgeproof') : pushed,
    );
    await loadRecorded();
    diagnosing.all();
  };
  connection.onInitialize(async (params) => {
    const { workspace } = params.capabilities;
    session.asksForSettings = workspace?.configuration === true;
    session.watches = workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    session.refreshesLenses = workspace?.codeLens?.refreshSupport === true;
    session.settings = settingsOf(params.initializationOptions);
    project.setFolders(foldersOf(params));
    await loadRecorded();
    return { capabilities: CAPABILITIES, serverInfo: { name: 'edgeproof', version } };
  });
  connection.onInitialized(() => {
    if (session.asksForSettings) tried(readSettings(null));
    if (session.watches) tried(connection.client.register(DidChangeWatchedFilesNotification.type, WATCHED));
  });
  connection.onDidChangeConfiguration((changed) => readSettings(changed.settings));
  const filesChanged = (): void => {
    project.changedOnDisk();
    diagnosing.all();
  };
  connection.onDidChangeWatchedFiles(filesChanged);
  // Not all editors tell what changes on disk.
  documents.onDidSave(() => project.changedOnDisk());
  documents.onDidChangeContent(({ document }) => {
    diagnosing.changed(snapshot(document));
    rest.refresh();
  });
  documents.onDidClose(({ document: { uri } }) => {
    diagnosing.closed(uri);
    coverage.closed(nameOfUri(uri));
  });
}

/** An editor that refuses a request, or is gone, does not end the server. */
function tried(request: Promise<unknown>): void {
  request.catch((error: unknown) => process.stderr.write(`${errorText(error)}\n`));
}

/** A version of a document, which itself goes on. */
function snapshot(document: TextDocument) {
  const text = document.getText();
  return { uri: document.uri, version: document.version, getText: () => text };
}

function foldersOf({ workspaceFolders, rootUri }: InitializeParams): readonly string[] {
  const uris = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri === null ? [] : [rootUri]);
  return uris.map(pathOfUri).filter((path) => path !== null);
}
