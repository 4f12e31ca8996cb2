import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { errorText } from '../../diagnostics/message_text.ts';
import { lazyLoad } from '../../loading/lazy_load.ts';
import { type PageFiles, sendPageFile } from '../../server/pages.ts';
import { apiRefusal, hostRefusal } from './access.ts';
import { ANSWERED, type Handler, type Handlers, OwnTexts, RequestError, invalid } from './handler.ts';

export interface ServerOptions {
  readonly token: string;
  /** The files of the page. */
  readonly files: () => Promise<PageFiles>;
  readonly handlers: () => Promise<Handlers>;
  /** Takes the secrets of the configuration out of a JSON text. */
  readonly redactText: (json: string) => string;
  /** Whether a client address may use it at all; by default every one. */
  readonly allows?: (address: string) => Promise<boolean>;
}

const BODY_BYTES = 8_388_608;
const MAX_CONNECTIONS = 128;
const REQUEST_MS = 30_000;

/** The policy of the page: its own files, and nothing inline or from elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The server of the page and its data. `port` is known when it listens. */
export function inspectorServer(options: ServerOptions): Server {
  const routes = lazyLoad(async () => routesOf(await options.handlers()));
  const server = createServer((request, response) => {
    const port = request.socket.localPort ?? 0;
    response.on('error', () => undefined);
    answer(request, response, port, options, routes.get).catch((error: unknown) =>
      fail(response, error, options),
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.requestTimeout = REQUEST_MS;
  server.on('clientError', (_error, socket) => void socket.destroy());
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
  options: ServerOptions,
  routes: () => Promise<readonly Route[]>,
): Promise<void> {
  response.setHeader('content-security-policy', POLICY);
  const host = hostRefusal(request, port);
  if (host !== null) throw new RequestError(host.status, host.error, host.message);
  await mayUse(request, options);
  const url = URL.parse(request.url ?? '/', `http://127.0.0.1:${port}`);
  if (url === null) throw invalid('the target of the request is not a path');
  if (!url.pathname.startsWith('/api/')) {
    request.resume();
    return sendPageFile(request, response, await options.files());
  }
  const refusal = apiRefusal(request, options.token);
  if (refusal !== null) throw new RequestError(refusal.status, refusal.error, refusal.message);
  const { method = 'GET' } = request;
  const found = (await routes()).flatMap((route) => matched(route, url.pathname));
  const route = found.find((each) => each.method === method);
  if (found.length === 0) throw new RequestError(404, 'not_found', 'there is nothing at this path');
  if (route === undefined) {
    response.setHeader('allow', found.map((each) => each.method).join(', '));
    throw new RequestError(405, 'method', `this path does not take ${method}`);
  }
  const body = method === 'GET' ? null : await bodyOf(request);
  const value = await route.handler({ params: route.params, query: url.searchParams, body, response });
  if (value instanceof OwnTexts) sendText(response, 200, JSON.stringify(value.value));
  else if (value !== ANSWERED) sendJson(response, 200, value, options);
}

async function mayUse({ socket }: IncomingMessage, { allows }: ServerOptions): Promise<void> {
  if (allows === undefined) return;
  const isAllowed = await allows(socket.remoteAddress ?? '').catch(() => null);
  if (isAllowed === null)
    throw new RequestError(503, 'unavailable', 'the restrictions of addresses cannot be read');
  if (!isAllowed) throw new RequestError(403, 'forbidden', 'a restriction of addresses refuses this client');
}

interface Route {
  readonly method: string;
  readonly parts: readonly string[];
  readonly handler: Handler;
}

function routesOf(handlers: Handlers): Route[] {
  return Object.entries(handlers).map(([key, handler]) => {
    const [method = '', path = ''] = key.split(' ');
    return { method, parts: path.split('/'), handler };
  });
}

function matched(
  { method, parts, handler }: Route,
  path: string,
): { readonly method: string; readonly handler: Handler; readonly params: Record<string, string> }[] {
  const given = path.split('/');
  if (given.length !== parts.length) return [];
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const value = given[index]!;
    if (part.startsWith(':')) params[part.slice(1)] = value;
    else if (part !== value) return [];
  }
  return [{ method, handler, params }];
}

/** The JSON of a body; only of requests that a form of another site cannot send. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    throw new RequestError(415, 'invalid', 'the body must be application/json');
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > BODY_BYTES)
      throw new RequestError(413, 'too_large', `the body is larger than ${BODY_BYTES} bytes`);
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString()) as unknown;
  } catch {
    throw invalid('the body is not JSON');
  }
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  { redactText }: ServerOptions,
): void {
  sendText(response, status, redactText(JSON.stringify(value ?? null)));
}

function sendText(response: ServerResponse, status: number, json: string): void {
  if (response.headersSent) return;
  const text = Buffer.from(json);
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': text.length,
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      // The rest of a body that was refused is not read.
      ...(status >= 400 && { connection: 'close' }),
    })
    .end(text);
}

function fail(response: ServerResponse, error: unknown, options: ServerOptions): void {
  if (error instanceof RequestError) {
    const { status, error: code, message, diagnostics } = error;
    return sendJson(response, status, { error: code, message, diagnostics }, options);
  }
  sendJson(response, 500, { error: 'failed', message: errorText(error) }, options);
}
