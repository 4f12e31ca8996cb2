import { createWriteStream, readFileSync } from 'node:fs';
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  createServer,
} from 'node:http';
import { BlockList, type Socket, connect, createServer as createTcpServer } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { createGzip } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import {
  DENIED_AGENTS,
  DENIED_CLIENT,
  DENIED_RANGES,
  REQUEST_EDITS,
  RESPONSE_EDITS,
} from './everything_on.ts';

/**
 * The Node contestants, each in a process: `node node_proxy.ts <name> <port> <upstream port> <port for TLS, or 0>
 * <certificate> <key> [<file for events>]`.
 */
const [, , name, portText, upstreamPort, tlsPort, certificate, key, eventsFile] = process.argv;
const port = Number(portText);
const origin = `http://127.0.0.1:${upstreamPort}`;

// table: contestants by name
const CONTESTANTS: Readonly<Record<string, () => Promise<void> | void>> = {
  splice,
  relay,
  undici: undiciDispatch,
  undici_obvious: obvious,
  'http-proxy-3': httpProxy3,
  fastify: fastifyProxy,
  'fast-proxy': fastProxy,
};

/**
 * The least that anything in Node can do: a connection to the upstream for each of a client, and bytes passed on
 * unread. What a proxy takes more than this is its own.
 */
function splice(): void {
  accepting((client) => {
    const buffer = Buffer.allocUnsafeSlow(65_536);
    const upstream = connect({
      host: '127.0.0.1',
      port: Number(upstreamPort),
      noDelay: true,
      onread: {
        buffer,
        callback: (length) => {
          client.write(buffer.subarray(0, length));
          // What the system has not accepted must not be overwritten by the next read.
          if (client.writableLength > 0) client.write('', () => upstream.resume());
          return client.writableLength === 0;
        },
      },
    });
    client.on('data', (bytes) => void upstream.write(bytes));
    client.on('error', () => undefined).on('close', () => upstream.destroy());
    upstream.on('error', () => undefined).on('close', () => client.destroy());
  });
}

/** Calls `accept` with each connection, plain and, if there is a port for it, TLS. */
function accepting(accept: (client: Socket) => void): void {
  createTcpServer({ noDelay: true }, accept).listen(port, '127.0.0.1', 4_096);
  if (tlsPort === '0') return;
  const options = { cert: readFileSync(certificate!), key: readFileSync(key!), noDelay: true };
  createTlsServer(options, accept).listen(Number(tlsPort), '127.0.0.1', 4_096);
}

/**
 * The least for connections of one request each: kept connections to the upstream, nothing of a head read but where it
 * ends and how long the content is, and the end of the connection after the response.
 */
function relay(): void {
  const idle: Socket[] = [];
  const take = (): Socket =>
    idle.pop() ?? connect({ host: '127.0.0.1', port: Number(upstreamPort), noDelay: true });
  accepting((client) => {
    client.on('error', () => undefined);
    client.once('data', (head: Buffer) => {
      const upstream = take();
      let missing = -1;
      upstream.on('data', (bytes: Buffer) => {
        if (missing < 0) {
          const end = bytes.indexOf('\r\n\r\n') + 4;
          const length = /content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end));
          missing = end + Number(length?.[1]);
        }
        client.write(bytes);
        missing -= bytes.length;
        if (missing > 0) return;
        upstream.removeAllListeners();
        idle.push(upstream);
        client.end();
      });
      // The upstream keeps its connection.
      upstream.write(head.toString('latin1').replace('Connection: close\r\n', ''), 'latin1');
    });
  });
}

function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): void {
  const server = createServer({ keepAliveTimeout: 600_000 }, handle);
  server.listen(port, '127.0.0.1', 4_096);
}

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function forwardable(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [field, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(field)) kept[field] = value;
  }
  return kept;
}

/** The minimum for a proxy with undici: raw headers, no streams between the two. */
function undiciDispatch(): void {
  const pool = new Pool(origin, { connections: 256, pipelining: 1 });
  serve((request, response) => {
    const headers: string[] = [];
    const raw = request.rawHeaders;
    for (let at = 0; at < raw.length; at += 2) {
      if (!HOP_BY_HOP.has(raw[at]!.toLowerCase())) headers.push(raw[at]!, raw[at + 1]!);
    }
    headers.push('x-forwarded-for', request.socket.remoteAddress ?? '', 'x-forwarded-proto', 'http');
    const hasBody =
      request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
    let abort: (() => void) | null = null;
    response.once('close', () => {
      if (!response.writableFinished) abort?.();
    });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => void (abort = () => controller.abort(new Error('left'))),
      onResponseStart: (_controller, status, fields) => {
        const kept: OutgoingHttpHeaders = {};
        for (const [field, value] of Object.entries(fields))
          if (!HOP_BY_HOP.has(field)) kept[field] = value as string;
        response.writeHead(status, kept);
      },
      onResponseData: (controller, bytes) => {
        if (response.write(bytes)) return;
        controller.pause();
        response.once('drain', () => controller.resume());
      },
      onResponseEnd: () => void response.end(),
      onResponseError: () => void (response.headersSent ? response.destroy() : response.writeHead(502).end()),
    };
    pool.dispatch(
      {
        path: request.url!,
        method: request.method as Dispatcher.HttpMethod,
        headers,
        body: hasBody ? request : null,
      },
      handler,
    );
  });
}

/**
 * A straightforward implementation: streams, and for all modules a loop over patterns and a gzip stream per response.
 */
function obvious(): void {
  const pool = new Pool(origin, { connections: 256 });
  const modules = eventsFile === undefined ? null : obviousModules(eventsFile);
  async function forward(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Record<string, string | string[]>,
    signal: AbortSignal,
  ): Promise<void> {
    const client = request.socket.remoteAddress ?? '';
    try {
      const answer = await pool.request({
        path: request.url!,
        method: request.method as Dispatcher.HttpMethod,
        headers,
        body: request.method === 'GET' ? null : request,
        signal,
      });
      const fields = forwardable(answer.headers);
      const gzip = modules !== null && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      modules?.editResponse(fields, gzip);
      response.writeHead(answer.statusCode, fields);
      const done = () => modules?.event(request, client, answer.statusCode, fields);
      if (gzip) pipeline(answer.body, createGzip({ level: 1 }), response, done);
      else pipeline(answer.body, response, done);
    } catch {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    }
  }
  serve((request, response) => {
    const left = new AbortController();
    response.once('close', () => left.abort());
    if (modules !== null && !modules.admits(request)) {
      response.writeHead(403).end();
      return;
    }
    const headers = {
      ...forwardable(request.headers),
      'x-forwarded-for': request.socket.remoteAddress ?? '',
    };
    modules?.editRequest(headers);
    void forward(request, response, headers, left.signal);
  });
}

function obviousModules(file: string) {
  const denied = new BlockList();
  for (const range of [...DENIED_RANGES, `${DENIED_CLIENT}/32`]) {
    const [address, prefix] = range.split('/');
    denied.addSubnet(address!, Number(prefix));
  }
  const agents = DENIED_AGENTS.map((pattern) => new RegExp(pattern));
  const events = createWriteStream(file, { flags: 'a' });
  return {
    admits: ({ socket, headers }: IncomingMessage): boolean =>
      !denied.check(socket.remoteAddress ?? '') &&
      !agents.some((agent) => agent.test(headers['user-agent'] ?? '')),
    editRequest(headers: Record<string, string | string[]>): void {
      for (const field of REQUEST_EDITS.remove) delete headers[field.toLowerCase()];
      for (const [field, value] of Object.entries(REQUEST_EDITS.add)) headers[field.toLowerCase()] = value;
    },
    editResponse(headers: Record<string, string | string[]>, gzip: boolean): void {
      for (const field of RESPONSE_EDITS.remove) delete headers[field.toLowerCase()];
      for (const [field, value] of Object.entries(RESPONSE_EDITS.add)) headers[field.toLowerCase()] = value;
      if (!gzip) return;
      delete headers['content-length'];
      headers['content-encoding'] = 'gzip';
    },
    event(request: IncomingMessage, client: string, status: number, headers: object): void {
      const { method, url } = request;
      const record = {
        time: Date.now(),
        client,
        method,
        url,
        status,
        request: request.headers,
        response: headers,
      };
      events.write(`${JSON.stringify(record)}\n`);
    },
  };
}

async function httpProxy3(): Promise<void> {
  const { createProxyServer } = await import('http-proxy-3');
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const proxy = createProxyServer({ target: origin, agent, xfwd: true });
  proxy.on('error', (_error, _request, response) => void (response as ServerResponse).destroy());
  serve((request, response) => proxy.web(request, response));
}

async function fastifyProxy(): Promise<void> {
  const [{ fastify }, { default: proxy }] = await Promise.all([
    import('fastify'),
    import('@fastify/http-proxy'),
  ]);
  const app = fastify({ keepAliveTimeout: 600_000 });
  await app.register(proxy, { upstream: origin, undici: { connections: 256, pipelining: 1 } });
  await app.listen({ port, host: '127.0.0.1', backlog: 4_096 });
}

async function fastProxy(): Promise<void> {
  const { default: make } = (await import('fast-proxy')) as unknown as {
    default: (options: object) => { proxy: (...args: unknown[]) => void };
  };
  const { proxy } = make({ base: origin, undici: { connections: 256, pipelining: 1 } });
  serve((request, response) => proxy(request, response, request.url, {}));
}

const begin = CONTESTANTS[name ?? ''];
if (begin === undefined) throw new Error(`no contestant ${name}`);
await begin();
