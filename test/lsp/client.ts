import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import {
  type InitializeResult,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
  createProtocolConnection,
} from 'vscode-languageserver-protocol/node';
import { MAIN } from '../cli/main_file.ts';

/** An editor without a window: a client of the protocol over standard input and output of the real command. */
export class Editor {
  readonly connection: ProtocolConnection;
  readonly child: ChildProcess;
  readonly #folder: string;
  readonly #diagnostics = new Map<string, PublishDiagnosticsParams>();
  /** They rise when a text is opened again, too: findings about an earlier one are not taken for its own. */
  readonly #versions = new Map<string, number>();
  readonly #open = new Set<string>();
  #heard: () => void = () => undefined;
  initialized!: InitializeResult;

  constructor(folder: string) {
    this.#folder = folder;
    this.child = spawn(process.execPath, [MAIN, 'lsp', '--stdio'], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    this.connection = createProtocolConnection(
      new StreamMessageReader(this.child.stdout!),
      new StreamMessageWriter(this.child.stdin!),
    );
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.#diagnostics.set(params.uri, params);
      this.#heard();
    });
    this.connection.listen();
  }

  async start(settings: object = {}): Promise<this> {
    this.initialized = await this.connection.sendRequest<InitializeResult>('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(this.#folder).href,
      workspaceFolders: [{ uri: pathToFileURL(this.#folder).href, name: 'project' }],
      capabilities: {},
      initializationOptions: settings,
    });
    await this.connection.sendNotification('initialized', {});
    return this;
  }

  uriOf(name: string): string {
    return pathToFileURL(join(this.#folder, name)).href;
  }

  /** Opens a text, or replaces all of one that is open. */
  async show(name: string, text: string): Promise<void> {
    const uri = this.uriOf(name);
    const version = (this.#versions.get(uri) ?? 0) + 1;
    this.#versions.set(uri, version);
    if (!this.#open.has(uri)) {
      this.#open.add(uri);
      const languageId = name.endsWith('.json') ? 'json' : 'yaml';
      await this.connection.sendNotification('textDocument/didOpen', {
        textDocument: { uri, languageId, version, text },
      });
    } else await this.#change(uri, [{ text }], version);
  }

  /** Changes a part, as a keystroke does. */
  async edit(name: string, range: object, text: string): Promise<void> {
    const uri = this.uriOf(name);
    const version = (this.#versions.get(uri) ?? 0) + 1;
    this.#versions.set(uri, version);
    await this.#change(uri, [{ range, text }], version);
  }

  async hide(name: string): Promise<void> {
    const uri = this.uriOf(name);
    this.#open.delete(uri);
    await this.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
  }

  /** The answer about a position. */
  ask<Answer>(method: string, name: string, params: object = {}): Promise<Answer> {
    return this.connection.sendRequest(method, { textDocument: { uri: this.uriOf(name) }, ...params });
  }

  /** The findings of the newest text, when they satisfy a condition. */
  async findings(
    name: string,
    isDone: (params: PublishDiagnosticsParams) => boolean = () => true,
  ): Promise<PublishDiagnosticsParams['diagnostics']> {
    const uri = this.uriOf(name);
    for (;;) {
      const params = this.#diagnostics.get(uri);
      if (params !== undefined && params.version === this.#versions.get(uri) && isDone(params))
        return params.diagnostics;
      await new Promise<void>((resolve) => (this.#heard = resolve));
    }
  }

  async stop(): Promise<number | null> {
    const ended = once(this.child, 'exit');
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    const [code] = (await ended) as [number | null];
    this.connection.dispose();
    return code;
  }

  async #change(uri: string, contentChanges: readonly object[], version: number): Promise<void> {
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges,
    });
  }
}

/** A text without its cursor `‸`, and where that is. */
export function atCursor(marked: string): {
  readonly text: string;
  readonly position: { readonly line: number; readonly character: number };
} {
  const offset = marked.indexOf('‸');
  const before = marked.slice(0, offset).split('\n');
  return {
    text: marked.slice(0, offset) + marked.slice(offset + 1),
    position: { line: before.length - 1, character: before.at(-1)!.length },
  };
}
