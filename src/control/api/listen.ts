import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { ApiAnswer, Caller } from './contract.ts';

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
  readonly close: () => Promise<void>;
}

/** Sends an answer as one piece, which takes a fraction of the time of a `Response`, whose body is a stream. */
function send(outgoing: ServerResponse, { status, fields, text }: ApiAnswer): void {
  if (text === null) outgoing.writeHead(status, fields).end();
  else outgoing.writeHead(status, { ...fields, 'content-length': Buffer.byteLength(text) }).end(text);
}

/** Serves the API on a socket. Rejects if the port is taken. */
export async function listenApi(
  api: (request: Request, caller: Caller) => Promise<ApiAnswer>,
  { host = '127.0.0.1', port = 0, tls }: ListenOptions = {},
): Promise<ApiListening> {
  const listener = getRequestListener(
    async (request, bindings) => {
      const { incoming, outgoing } = bindings as { incoming: IncomingMessage; outgoing: ServerResponse };
      send(outgoing, await api(request, { address: incoming.socket.remoteAddress ?? '' }));
      return RESPONSE_ALREADY_SENT;
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}
