import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import type { HttpRequestCompleteEvent } from '../../src/events/catalogue.ts';
import type { Listening } from '../../src/listening.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';

const TEXT = 'hello world, '.repeat(300);
const replace = (config: object) => [{ actions: [{ type: 'response-body-find-replace', config }] }];
const HELLO = { replacements: [{ from: 'hello', to: 'bye' }] };
const ROUTES = {
  plain: {},
  replaced: { on_http_response: replace(HELLO) },
  packed: { on_http_response: [{ actions: [{ type: 'compress-response', config: {} }] }] },
  both: {
    on_http_response: [...replace(HELLO), { actions: [{ type: 'compress-response', config: {} }] }],
  },
  local: {
    on_http_request: [{ actions: [{ type: 'custom-response', config: { status_code: 200, body: TEXT } }] }],
  },
};
const HEADERS = { 'content-type': 'text/plain', etag: '"1"', 'accept-ranges': 'bytes' };

describe('the same request, simulated and real', () => {
  const upstream = createServer((_message, response) => {
    response.writeHead(200, { ...HEADERS, 'content-length': Buffer.byteLength(TEXT) });
    response.end(TEXT);
  });
  const events: HttpRequestCompleteEvent[] = [];
  let edge: Edge;
  let listening: Listening;

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    edge = createEdge(
      {
        backends: { app: { static: { address } } },
        edges: {
          https: {
            shop: {
              hostports: ['shop.test:443'],
              routes: Object.entries(ROUTES).map(([name, policy]) => ({
                match_type: 'path_prefix',
                match: `/${name}`,
                backend: { backend_id: 'app' },
                traffic_policy: { value: JSON.stringify(policy) },
              })),
            },
          },
        },
      },
      { onEvent: (event) => events.push(event) },
    );
    listening = await edge.listen({});
  });
  afterAll(async () => {
    await listening?.close(0);
    upstream.close();
  });

  /** What a client and its event have of a response; times, ports and framing of a connection differ. */
  function told(
    status: number,
    fields: readonly string[],
    bytes: Uint8Array | null,
    { object }: HttpRequestCompleteEvent,
  ) {
    const names = ['content-type', 'etag', 'accept-ranges', 'content-encoding', 'vary', 'content-length'];
    const headers = names.map((name) => {
      const at = fields.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
      return at < 0 ? null : fields[at + 1];
    });
    const { compression, http } = object;
    return { status, headers, bytes: bytes?.length, compression, length: http.response.body_length };
  }

  async function live(options: RequestOptions) {
    events.length = 0;
    const asked = httpRequest(listening.url, { agent: false, ...options }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const bytes = await buffer(response);
    while (events.length === 0) await new Promise((resolve) => setImmediate(resolve));
    return told(response.statusCode!, response.rawHeaders, bytes, events[0]!);
  }

  it.each(
    Object.keys(ROUTES).flatMap((path) =>
      ['GET', 'HEAD'].flatMap((method) =>
        ['identity', 'gzip', 'br'].map((coding) => [method, `/${path}`, coding] as const),
      ),
    ),
  )('%s %s with %s', async (method, path, coding) => {
    const headers = { host: 'shop.test', 'accept-encoding': coding };
    const real = await live({ method, path, headers });
    const simulator = createSimulator(edge);
    simulator.upstream('app', {
      headers: { ...HEADERS, 'content-length': String(Buffer.byteLength(TEXT)) },
      body: TEXT,
    });
    const url = `http://shop.test${path}`;
    const sent = simulator.send({ method, url, headers: { 'accept-encoding': coding } });
    // The framing is that of the connection: a simulated response has none.
    const given = told(sent.status, sent.headers, null, sent.event);
    expect({ ...given, headers: given.headers.slice(0, -1) }).toEqual({
      ...real,
      headers: real.headers.slice(0, -1),
      bytes: undefined,
    });
  });
});
