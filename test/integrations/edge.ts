import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Edge, type HttpRequestCompleteEvent, createEdge } from '../../src/index.ts';

/** An edge with one of everything: a stop, an edit of URL, headers and bodies, and compression. */
export function edgeBefore(events: HttpRequestCompleteEvent[] = []): Edge {
  const policy = {
    on_http_request: [
      {
        expressions: ["req.url.path.startsWith('/admin')"],
        actions: [{ type: 'deny', config: { status_code: 403 } }],
      },
      {
        expressions: ["req.url.path == '/old'"],
        actions: [{ type: 'redirect', config: { from: '/old', to: '/new' } }],
      },
      {
        expressions: ["req.url.path.startsWith('/v1/')"],
        actions: [
          { type: 'url-rewrite', config: { from: '/v1/', to: '/v2/' } },
          { type: 'add-headers', config: { headers: { 'x-edge': 'was here' } } },
          { type: 'remove-headers', config: { headers: ['x-secret'] } },
        ],
      },
      {
        expressions: ["req.url.path == '/swap'"],
        actions: [
          { type: 'request-body-find-replace', config: { replacements: [{ from: 'cat', to: 'tiger' }] } },
        ],
      },
    ],
    on_http_response: [
      {
        actions: [{ type: 'add-headers', config: { headers: { 'x-seen': '${res.status_code}' } } }],
      },
    ],
  };
  return createEdge(
    {
      backends: { app: { static: { address: 'localhost:1' } } },
      edges: {
        https: {
          app: {
            hostports: ['shop.test:443'],
            routes: [
              {
                match_type: 'path_prefix',
                match: '/',
                backend: { backend_id: 'app' },
                compression: {},
                traffic_policy: { value: JSON.stringify(policy) },
              },
            ],
          },
        },
      },
    },
    { adoptHosts: 'any', onEvent: (event) => void events.push(event) },
  );
}

/** What an application does at each path, independently of the framework. */
export interface Seen {
  readonly url: string;
  readonly method: string;
  readonly edge: string | null;
  readonly secret: string | null;
  readonly body: string;
}

export const LONG_TEXT = 'all work and no play '.repeat(200);

/** Serves a handler on loopback. */
export async function serving(
  handler: RequestListener,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
