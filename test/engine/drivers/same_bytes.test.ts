import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type Server, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../../src/edgeproof.ts';
import { createSimulator } from '../../../src/simulator/create_simulator.ts';
import type { HttpRequestComplete, HttpRequestCompleteEvent } from '../../../src/events/catalogue.ts';
import { type Exchanged, REPLY_CASES, type ReplyCase } from './reply_cases.ts';

const NOW_MS = Date.UTC(2026, 2, 4, 5, 6, 7);
const CLOCK = { clock: () => NOW_MS, random: () => 0.5 };

let upstream: Server;
/** The upstream's response to the next request. */
let answer: Exchanged['upstream'];

beforeAll(async () => {
  upstream = createServer((socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const declared = Number(/\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
      if (text.length < end + 4 + declared) return;
      const isToHead = text.startsWith('HEAD ');
      text = '';
      socket.write(wireBytes(isToHead));
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => upstream.close());

function wireBytes(isToHead: boolean): Buffer {
  const { status, headers, body, length } = answer;
  const lines = [`HTTP/1.1 ${status} Told`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  const isChunked = length === 'chunked' && status !== 304 && status !== 204;
  if (isChunked) lines.push('transfer-encoding: chunked');
  else if (length === 'declared') lines.push(`content-length: ${body.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  if (isToHead || status === 204 || status === 304) return head;
  const sent = isChunked
    ? [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]
    : [body];
  return Buffer.concat([head, ...sent]);
}

interface Result {
  readonly status: number;
  /** Content-Length and the fields that describe the body. */
  readonly fields: Readonly<Record<string, string | null>>;
  readonly bytes: Buffer;
  readonly event: object;
}

const DESCRIBING = ['content-length', 'content-encoding', 'content-type', 'etag', 'vary'];

function fieldsOf(value: (name: string) => string | null): Result['fields'] {
  return Object.fromEntries(DESCRIBING.map((name) => [name, value(name)]));
}

/** The event without members that depend on the connection or the client library. */
function comparable({ http, conn: _conn, backend: _backend, ...rest }: HttpRequestComplete): object {
  const { headers: _headers, url: _url, user_agent: _agent, ...request } = http.request;
  return { ...rest, http: { request, response: http.response } };
}

function configOf({ modules = {}, backend }: ReplyCase, address: string): object {
  return {
    backends: {
      app: backend === undefined ? { static: { address } } : { http_response: backend },
    },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, ...modules }],
        },
      },
    },
  };
}

async function live(each: ReplyCase, exchanged: Exchanged): Promise<Result> {
  answer = exchanged.upstream;
  const { port } = upstream.address() as AddressInfo;
  const events: HttpRequestCompleteEvent[] = [];
  let heard = (): void => {};
  const complete = new Promise<void>((resolve) => (heard = resolve));
  const edge = createEdge(configOf(each, `127.0.0.1:${port}`), {
    ...CLOCK,
    onEvent: (event: HttpRequestCompleteEvent) => {
      events.push(event);
      heard();
    },
  });
  const listening = await edge.listen();
  try {
    const { method, headers, body } = exchanged.request;
    const sent = httpRequest({
      port: listening.port,
      path: '/',
      method,
      agent: false,
      headers: { host: 'shop.test', ...headers, ...(body && { 'content-length': String(body.length) }) },
    });
    sent.end(body);
    const [response] = await once(sent, 'response');
    const pieces: Buffer[] = [];
    for await (const piece of response) pieces.push(piece as Buffer);
    await complete;
    return {
      status: response.statusCode,
      fields: fieldsOf((name) => response.headers[name] ?? null),
      bytes: Buffer.concat(pieces),
      event: comparable(events[0]!.object),
    };
  } finally {
    await listening.close(0);
  }
}

function upstreamFields({ headers, body, length }: Exchanged['upstream']): Record<string, string> {
  return { ...headers, ...(length === 'declared' && { 'content-length': String(body.length) }) };
}

const edgeFor = (each: ReplyCase): Edge => createEdge(configOf(each, '127.0.0.1:1'), CLOCK);

async function handled(each: ReplyCase, { request, upstream: told }: Exchanged): Promise<Result> {
  const hasNone = told.status === 204 || told.status === 205 || told.status === 304;
  const edge = createEdge(configOf(each, '127.0.0.1:1'), {
    ...CLOCK,
    upstream: () =>
      new Response(hasNone ? null : Buffer.from(told.body), {
        status: told.status,
        headers: upstreamFields(told),
      }),
  });
  const { method, headers, body } = request;
  const { response, event } = await edge.handle(
    new Request('http://shop.test/', { method, headers, ...(body && { body: Buffer.from(body) }) }),
  );
  return {
    status: response.status,
    fields: fieldsOf((name) => response.headers.get(name)),
    bytes: Buffer.from(await response.arrayBuffer()),
    event: comparable(event.object),
  };
}

function simulated(each: ReplyCase, { request, upstream: told }: Exchanged) {
  const simulator = createSimulator(edgeFor(each), { clock: NOW_MS });
  if (each.backend === undefined) {
    const body = Buffer.from(told.body).toString();
    simulator.upstream('app', { status: told.status, headers: upstreamFields(told), body });
  }
  const { method, headers, body } = request;
  const { status, text, event } = simulator.send({
    url: 'http://shop.test/',
    method,
    headers,
    ...(body && { body: Buffer.from(body).toString() }),
  });
  return { status, text, event: comparable(event.object) };
}

describe.each(REPLY_CASES.map((each) => [each.name, each] as const))('%s', (_name, each) => {
  it.each(each.exchanges.map((exchanged) => [exchanged.name, exchanged] as const))(
    '%s: the same bytes, sizes and event from every driver',
    async (_exchange, exchanged) => {
      const overSockets = await live(each, exchanged);
      expect(await handled(each, exchanged)).toEqual(overSockets);
      const { status, event, text } = simulated(each, exchanged);
      expect({ status, event }).toEqual({ status: overSockets.status, event: overSockets.event });
      if (overSockets.fields['content-encoding'] === null) expect(text).toBe(overSockets.bytes.toString());
      const decided = edgeFor(each).decide(
        { url: 'http://shop.test/', method: exchanged.request.method, headers: exchanged.request.headers },
        {},
        {
          head: {
            status: exchanged.upstream.status,
            headers: Object.entries(upstreamFields(exchanged.upstream)).flat(),
          },
          reused: false,
        },
      );
      expect(decided.status).toBe(overSockets.status);
      exchanged.check?.(overSockets);
    },
  );
});
