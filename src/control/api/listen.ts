import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { getRequestListener } from '@hono/node-server';
import type { Caller } from './contract.ts';

export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Certificate and key as PEM; without them the API uses plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface ApiListening {
  readonly url: string;
  readonly port: number;
  /** Waits at most this long for requests in flight; default: not at all. */
  readonly close: (deadlineMs?: number) => Promise<void>;
}

/** Serves the API on a socket. Rejects if the port is taken. */
export async function listenApi(
  api: (request: Request, caller: Caller) => Promise<Response>,
  { host = '127.0.0.1', port = 0, tls }: ListenOptions = {},
): Promise<ApiListening> {
  const listener = getRequestListener(
    (request, bindings) => {
      const { incoming } = bindings as { incoming: { socket: { remoteAddress?: string } } };
      return api(request, { address: incoming.socket.remoteAddress ?? '' });
    },
    { overrideGlobalObjects: false },
  );
  const handle = (...parts: Parameters<typeof listener>): void => void listener(...parts);
  const server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle as never);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = (server.address() as { port: number }).port;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${name}:${bound}`,
    port: bound,
    close: (deadlineMs = 0) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
