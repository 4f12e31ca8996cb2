import { type IncomingMessage, STATUS_CODES, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { parseAuthority } from '../../http/host.ts';
import { ApiProblem } from '../resources/problem.ts';
import type { Api } from './app.ts';
import type { ApiAnswer, ArrivedRequest } from './contract.ts';

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

/** Sends an answer as one piece, which takes a fraction of the time of a `Response`, whose body is a stream. */
function send(outgoing: ServerResponse, { status, fields, text }: ApiAnswer): void {
  if (text === null) outgoing.writeHead(status, fields).end();
  else outgoing.writeHead(status, { ...fields, 'content-length': Buffer.byteLength(text) }).end(text);
}

/** Fields that decide whose request it is and where. Node takes the first; a proxy on the way may take another. */
const SINGLE = /^(?:host|authorization)$/i;

function repeatsSingle(rawHeaders: readonly string[]): boolean {
  const names = rawHeaders.filter((text, index) => index % 2 === 0 && SINGLE.test(text));
  return new Set(names.map((name) => name.toLowerCase())).size < names.length;
}

/**
 * The request of a message. Its headers and body are read as they are: a `Request` and its streams would take more time
 * than the answer. Null if its target and host are not those of a server.
 */
function requestOf(incoming: IncomingMessage, scheme: string): ArrivedRequest | null {
  const { headers, url: target = '', method = '', socket, httpVersion } = incoming;
  const { host = 'localhost' } = headers;
  if (headers.host === undefined && httpVersion !== '1.0') return null;
  const isAbsolute = /^https?:/i.test(target);
  if (!isAbsolute && (!target.startsWith('/') || parseAuthority(host) === null)) return null;
  const url = URL.parse(isAbsolute ? target : `${scheme}://${host}${target}`);
  if (url === null) return null;
  const field = (name: string): string | null => {
    const value = headers[name];
    return value === undefined ? null : String(value);
  };
  // A body that is refused in the middle leaves the connection open for the answer.
  const body = { [Symbol.asyncIterator]: () => incoming.iterator({ destroyOnReturn: false }) };
  const isAbandoned = () => socket.destroyed;
  return { method, url, field, body, isAbandoned, address: socket.remoteAddress ?? '' };
}

/** Problems of requests that Node's parser refuses, by its codes (https://nodejs.org/api/errors.html). */
// table: statuses of unreadable requests
const UNREADABLE: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The target and the headers of the request are larger than 16 KiB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

/** Answers what is not a request, and closes the connection. */
function refuseUnreadable(api: Api, error: { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, message] = UNREADABLE[error.code ?? ''] ?? [400, 'This is not an HTTP/1.1 request.'];
  const { fields, text } = api.refuse(new ApiProblem(status, null, message));
  const body = text ?? '';
  const all = { ...fields, 'content-length': Buffer.byteLength(body), connection: 'close' };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`);
}

/** Serves the API on a socket. Rejects if the port is taken. */
export async function listenApi(
  api: Api,
  { host = '127.0.0.1', port = 0, tls }: ListenOptions = {},
): Promise<ApiListening> {
  const scheme = tls === undefined ? 'http' : 'https';
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const refuse = (message: string) => send(outgoing, api.refuse(new ApiProblem(400, null, message)));
    if (repeatsSingle(incoming.rawHeaders))
      return refuse('The request has several fields Host or Authorization; send one of each.');
    const request = requestOf(incoming, scheme);
    if (request === null) return refuse('The host or the target of the request is invalid.');
    // A client that leaves in the middle of its request fails the read of the body, which the API answers.
    return void api.answer(request).then((answer) => send(outgoing, answer));
  };
  // A request without a host is answered like other errors.
  const options = { requireHostHeader: false };
  const server =
    tls === undefined ? createServer(options, handle) : createTlsServer({ ...options, ...tls }, handle);
  server.on('checkExpectation', (_incoming, outgoing: ServerResponse) =>
    send(outgoing, api.refuse(new ApiProblem(417, null, 'The Expect of the request is not 100-continue.'))),
  );
  server.on('clientError', (error: Error & { code?: string }, socket) =>
    refuseUnreadable(api, error, socket),
  );
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
    url: `${scheme}://${name}:${bound}`,
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
