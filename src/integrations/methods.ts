import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { lazyLoad } from '../loading/lazy_load.ts';
import type { World } from '../engine/contract.ts';
import type { ClientFacts } from '../engine/request_like.ts';
import type { Wiring } from '../engine/drivers/engine_exchange_port.ts';
import type { Through } from './connect.ts';
import type { FetchApp } from './fetch.ts';

/** Middleware for Express and connect. */
export type ConnectMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** The same application behind an edge. */
export interface FetchAppBehindEdge {
  /** Takes a request through the edge and into the application. */
  readonly fetch: (request: Request, from?: ClientFacts) => Promise<Response>;
  /** `fetch` for tests: takes a path on the first host of the edge, or a URL. */
  readonly request: (
    input: string | URL | Request,
    init?: RequestInit,
    from?: ClientFacts,
  ) => Promise<Response>;
}

export interface VitePlugin {
  readonly name: string;
  readonly apply: 'serve';
  readonly enforce: 'pre';
  readonly configureServer: (server: {
    readonly middlewares: { use: (middleware: ConnectMiddleware) => unknown };
  }) => void;
  readonly configurePreviewServer: VitePlugin['configureServer'];
}

/** Ways to put an application behind an edge in its own process. Each adapter is loaded on first use. */
export interface Adapters {
  /** For `app.use(edge.express())`, before everything else; also for connect. */
  readonly express: () => ConnectMiddleware;
  /** For `http.createServer(edge.node(handler))`. */
  readonly node: (handler: RequestListener) => RequestListener;
  /** For `Fastify(edge.fastify())`: a `serverFactory`. `app.inject` bypasses the edge. */
  readonly fastify: () => { readonly serverFactory: (handler: RequestListener, options?: unknown) => Server };
  /** For `serve({ fetch: edge.hono(app).fetch })` and tests. Bodies are buffered whole; use `node` for streams. */
  readonly hono: (app: FetchApp) => FetchAppBehindEdge;
  /** For `plugins: [edge.vite()]`: puts the dev server and the preview server behind the edge. */
  readonly vite: () => VitePlugin;
}

type Hosts = () => readonly { readonly hostports: readonly string[] }[];

/** The adapters of one edge; `hosts` are those of its edges. */
export function adaptersOf(wiring: Wiring, world: World, hosts: Hosts): Adapters {
  const late = lazyLoad(async (): Promise<Through> => {
    const { throughEdge } = await import('./connect.ts');
    return throughEdge(wiring, () => world.nowMs());
  });
  const middleware: ConnectMiddleware = (request, response, next) => {
    const pass = async (): Promise<void> => {
      let through: Through;
      try {
        through = await late.get();
      } catch (error) {
        // An error must not let the request bypass the edge: the framework sends its error page, or nothing.
        if (next.length > 0) next(error);
        else response.destroy();
        return;
      }
      await through(request, response, () => next());
    };
    void pass();
  };
  const node = (handler: RequestListener): RequestListener => {
    return (request, response) => middleware(request, response, () => handler(request, response));
  };
  return {
    express: () => middleware,
    node,
    fastify: () => ({
      serverFactory: (handler) => process.getBuiltinModule('node:http').createServer(node(handler)),
    }),
    hono: (app) => {
      const fetch: FetchAppBehindEdge['fetch'] = async (request, from = {}) =>
        (await import('./fetch.ts')).fetchThrough(wiring, app, request, from, world.nowMs());
      return {
        fetch,
        request: (input, init, from) => {
          const isPath = typeof input === 'string' && input.startsWith('/');
          const url = isPath ? `https://${firstHost(hosts)}${input}` : input;
          return fetch(new Request(url, init), from);
        },
      };
    },
    vite: () => ({
      name: 'edgeproof',
      apply: 'serve',
      enforce: 'pre',
      configureServer: ({ middlewares }) => void middlewares.use(middleware),
      configurePreviewServer: ({ middlewares }) => void middlewares.use(middleware),
    }),
  };
}

function firstHost(hosts: Hosts): string {
  return hosts()[0]?.hostports[0]?.replace(/:\d+$/, '').replace('*', 'any') ?? 'edge.test';
}
