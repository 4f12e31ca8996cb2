import type { Server } from 'node:http';
import { secretText } from '../../crypto/random.ts';
import { lazyLoad } from '../../loading/lazy_load.ts';
import { type ListenProblem, listenOn } from '../../server/bind.ts';
import { GrowingRedaction } from '../../replay/growing_redaction.ts';
import type { PageFiles } from '../../server/pages.ts';
import type { Hello } from '../wire.ts';
import type { ConfigurationFiles, InspectorContext } from './context.ts';
import type { ExplainKept } from './detail.ts';
import { errorPages } from './error_pages.ts';
import { Feed } from './feed.ts';
import type { Handlers } from './handler.ts';
import { inspectorServer } from './http_server.ts';
import type { Listens } from './resend.ts';
import { Revisions } from './revisions.ts';
import { settleInSlices } from './settle.ts';
import { Store, type StoreLimits } from './store.ts';
import type { TrafficWatch } from './traffic_watch.ts';
import { Watch } from './watch.ts';

export interface InspectorOptions {
  /** Default 4040; the next free one if it is taken, unless `strictPort`. */
  readonly port?: number;
  readonly strictPort?: boolean;
  readonly verb: Hello['verb'];
  readonly version: string;
  /** Reads the files of the page, which are needed when one is opened. */
  readonly pages: () => Promise<PageFiles>;
  /** Names that are redacted besides those of recordings. */
  readonly redact?: readonly string[];
  readonly limits?: Partial<StoreLimits>;
  readonly files?: ConfigurationFiles;
  readonly nowMs?: () => number;
  /** Whether a client address may use it at all; by default every one of this machine. */
  readonly allows?: (address: string) => Promise<boolean>;
  /** Whether refusals say on this machine which line decided; default false. */
  readonly errorPages?: boolean;
  /** What decides again: further handlers, and explanations with values. */
  readonly decide?: (context: InspectorContext, revisions: Revisions) => Promise<Deciding>;
}

/** The part of the inspector that decides kept exchanges again. */
export interface Deciding {
  readonly handlers: Handlers;
  readonly explain: ExplainKept;
  readonly close?: () => Promise<void>;
}

export interface Inspector {
  readonly watch: TrafficWatch & Pick<Watch, 'keptOf'>;
  readonly context: InspectorContext;
  /** Opens the port, on loopback. */
  readonly listen: () => Promise<InspectorListening | ListenProblem>;
  /** The edge listens. */
  readonly serves: (url: string, listens: Listens) => void;
  /** Ends all feeds at once. */
  readonly close: () => Promise<void>;
}

interface InspectorListening {
  readonly port: number;
  /** Without the token. */
  readonly url: string;
  /** With the token, in the fragment: browsers do not send it. */
  readonly openUrl: string;
}

const INSPECTOR_PORT = 4040;
/** Digits and letters with 5.17 bits each. */
const TOKEN_UNITS = 40;
const NO_FILES: ConfigurationFiles = { names: () => [] };

/** An inspector, which observes from the moment that its `watch` is given to an edge. */
export function createInspector(options: InspectorOptions): Inspector {
  const { files = NO_FILES, nowMs = Date.now, version, verb } = options;
  const token = secretText(TOKEN_UNITS);
  const store = new Store(options.limits);
  const feed = new Feed();
  const redaction = new GrowingRedaction(options.redact ?? []);
  const watch = new Watch(store, feed, redaction.rules);
  const revisions = new Revisions(files);
  const context: InspectorContext = { store, watch, files, version, nowMs, redaction: redaction.rules };
  const startedMs = nowMs();
  if (options.errorPages === true) watch.replyOf = errorPages(context, () => urlOf(server));
  let listens: Listens | null = null;
  let edgeUrl = '';
  const noteRevision = () => {
    const { runtime } = watch.edge;
    redaction.add(runtime.current().config);
    settleInSlices(store, runtime.current(), watch.settle);
    return revisions.add(runtime.revision(), nowMs());
  };
  feed.attach({ store, watch, nowMs, redactText: redaction.text, swapped: noteRevision });
  // Most runs open no page, and what answers one takes as long to load as the rest of the verb.
  const answering = lazyLoad(async () => {
    const { handlersOf } = await import('./handlers.ts');
    const deciding = (await options.decide?.(context, revisions)) ?? null;
    const further = deciding?.handlers ?? {};
    const hello = (): Hello => ({
      version,
      verb,
      edgeUrl,
      revision: watch.edge.runtime.revision(),
      startedMs,
      nowMs: nowMs(),
      kept: store.figures(),
      can: canDo(further, files, listens !== null),
    });
    const explain = deciding?.explain ?? null;
    const own = handlersOf({ context, feed, revisions, explain, hello, listens: () => listens });
    return { handlers: { ...own, ...further }, close: deciding?.close };
  });
  const server = inspectorServer({
    token,
    files: lazyLoad(options.pages).get,
    handlers: async () => (await answering.get()).handlers,
    redactText: redaction.text,
    ...(options.allows !== undefined && { allows: options.allows }),
  });
  const attached = watch.attach;
  return {
    watch: Object.assign(watch, {
      attach: (edge: Parameters<TrafficWatch['attach']>[0]) => {
        attached(edge);
        noteRevision();
      },
    }),
    context,
    listen: () => listenOnLoopback(server, options, token),
    serves: (url, at) => {
      edgeUrl = url;
      listens = at;
    },
    close: async () => {
      const begun = await answering.ifBegun();
      await Promise.all([begun?.close?.(), closeServer(server, feed)]);
    },
  };
}

function closeServer(server: Server, feed: Feed): Promise<void> {
  return new Promise((resolve) => {
    feed.close();
    if (!server.listening) return resolve();
    server.close(() => resolve());
    // The last event of each page is sent before.
    setImmediate(() => server.closeAllConnections());
  });
}

/** Without the token; empty if it does not listen. */
function urlOf(server: Server): string {
  const address = server.address();
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}/` : '';
}

async function listenOnLoopback(
  server: Server,
  { port = INSPECTOR_PORT, strictPort = false }: InspectorOptions,
  token: string,
): Promise<InspectorListening | ListenProblem> {
  const bound = await listenOn(server, { host: '127.0.0.1', port, strictPort });
  if ('problem' in bound) return { problem: `inspector: ${bound.problem}` };
  // Pages alone do not keep the process alive.
  server.unref();
  const url = urlOf(server);
  return { port: bound.port, url, openUrl: `${url}#token=${token}` };
}

function canDo(handlers: Handlers, { names }: ConfigurationFiles, listens: boolean): Hello['can'] {
  const has = (name: string): boolean => `POST /api/${name}` in handlers;
  const hasFiles = names().length > 0;
  return {
    resend: listens,
    files: hasFiles,
    write: hasFiles,
    draft: has('draft'),
    complete: has('complete'),
    format: has('format'),
    coverage: has('coverage'),
  };
}
