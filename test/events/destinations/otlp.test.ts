import fc from 'fast-check';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { callbackPost } from '../../../src/clients/callback_post.ts';
import { createEdge } from '../../../src/edgeproof.ts';
import { deliver } from '../../../src/events/delivery.ts';
import { attributesOf, logsRequest, traceRequest } from '../../../src/events/otlp/messages.ts';
import { protobufOf } from '../../../src/events/otlp/protobuf.ts';
import { type TargetSettings, targetOf } from '../../../src/events/targets.ts';
import { sized } from '../../random.ts';
import { type Received, SERVICES, startDouble } from './doubles.ts';
import {
  type DecodedAttribute,
  decodedLogs,
  decodedLogsRequest,
  decodedSpans,
  decodedTraceRequest,
} from './otlp_decoder.ts';
import { eventOf, idOf, memoryOutbox } from './outbox.ts';
import type { Reply } from './tcp_double.ts';

/** OTLP/HTTP: messages as OpenTelemetry decodes them, its rules of failure, and traces through the edge. */

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const world = { nowMs: Date.now, post: callbackPost({ own: [], allowPrivate: true }), say: () => {} };

async function collector(reply: (received: Received) => Reply = () => ({ status: 200, body: '' })) {
  const requests: Received[] = [];
  const double = await startDouble((received) => {
    requests.push(received);
    return reply(received);
  });
  open.push(double.close);
  return { requests, url: double.url };
}

function settingsOf(url: string, changes: object = {}): TargetSettings {
  return { otlp: { ...SERVICES['otlp']!.target(url).otlp!, url, ...changes } };
}

const id = (digits: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`)).filter((text) => !/^0+$/.test(text));
const nano = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String);
const attributes = fc
  .dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(fc.string({ minLength: 1, unit: 'grapheme' }), fc.boolean(), fc.maxSafeInteger()),
  )
  .map(attributesOf);

describe('the encoding', () => {
  it('of spans is what the decoder of OpenTelemetry reads as the same message', () => {
    const span = fc.record({
      traceId: id(32),
      spanId: id(16),
      traceState: fc.string({ minLength: 1 }),
      parentSpanId: id(16),
      name: fc.string(),
      kind: fc.integer({ min: 0, max: 5 }),
      startTimeUnixNano: nano,
      endTimeUnixNano: nano,
      attributes,
      status: fc.constantFrom({}, { code: 2 }, { message: 'é', code: 1 }),
      flags: fc.integer({ min: 0, max: 255 }),
    });
    const check = (resource: ReturnType<typeof attributesOf>, spans: object[]): void => {
      const message = traceRequest({ attributes: resource }, spans as never);
      expect(withoutEmpty(decodedTraceRequest(protobufOf(message)))).toEqual(withoutEmpty(message));
    };
    fc.assert(fc.property(attributes, fc.array(span, { maxLength: 3 }), check), sized(500));
  });

  it('of logs is what the decoder of OpenTelemetry reads as the same message', () => {
    const record = fc.record({
      timeUnixNano: nano,
      observedTimeUnixNano: nano,
      severityNumber: fc.integer({ min: 0, max: 24 }),
      severityText: fc.string(),
      body: fc.record({ stringValue: fc.string({ unit: 'grapheme' }) }),
      attributes,
      eventName: fc.string(),
      traceId: id(32),
      spanId: id(16),
      flags: fc.integer({ min: 0, max: 1 }),
    });
    const check = (records: object[]): void => {
      const message = logsRequest({ attributes: [] }, records as never);
      expect(withoutEmpty(decodedLogsRequest(protobufOf(message)))).toEqual(withoutEmpty(message));
    };
    fc.assert(fc.property(fc.array(record, { maxLength: 3 }), check), sized(500));
  });
});

/** Without empty lists, which Protocol Buffers do not have. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, each]) => !Array.isArray(each) || each.length > 0);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutEmpty(each)]));
}

describe('the rules of failure', () => {
  const events = [eventOf(0), eventOf(1)];

  it.each([
    ['protobuf', Buffer.from([0x0a, 0x06, 0x08, 0x02, 0x12, 0x02, 0x6e, 0x6f])],
    ['json', '{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"no"}}'],
  ])('a partial success is reported and not sent again (%s)', async (encoding, body) => {
    const { url } = await collector(() => ({ status: 200, body }));
    const target = targetOf('ed_1', settingsOf(url, { encoding }), world);
    expect(await target.send(events)).toEqual({ problem: null, notice: 'otlp rejected 2 logs: no' });
  });

  it.each([
    [400, { divide: true }],
    [413, { divide: true }],
    [401, {}],
    [503, {}],
    [307, {}],
  ])('%d: %j', async (status, outcome) => {
    const { url, requests } = await collector(() => ({
      status,
      body: 'why',
      headers: { location: '/else' },
    }));
    const target = targetOf('ed_1', settingsOf(url), world);
    expect(await target.send(events)).toEqual({ problem: `otlp answered ${status}: why`, ...outcome });
    expect(requests).toHaveLength(1);
  });

  it('Retry-After is the delay, and a signal that was accepted is not sent with the next attempt', async () => {
    const replies: Reply[] = [
      { status: 200, body: '' },
      { status: 503, headers: { 'retry-after': '7' } },
    ];
    const { url, requests } = await collector(() => replies.shift() ?? { status: 200, body: '' });
    const target = targetOf('ed_1', settingsOf(url, { compression: 'none' }), world);
    const batch = [tracedEvent()];
    expect(await target.send(batch)).toMatchObject({ problem: expect.stringMatching(/503/), afterMs: 7_000 });
    expect(await target.send(batch)).toEqual({ problem: null });
    expect(requests.map(({ path }) => path)).toEqual(['/v1/logs', '/v1/traces', '/v1/traces']);
    expect(requests[2]!.headers['content-encoding']).toBeUndefined();
  });
});

function tracedEvent(): string {
  const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentId: null, flags: 1, state: '' };
  const decision = {
    phase: 'upstream',
    module: 'm',
    verdict: 'pass',
    code: 'c',
    message: 's',
    pointer: '',
    place: '',
  };
  const span = { context, startMs: 0, route: '', backend: '', decision };
  return JSON.stringify({
    ...(JSON.parse(eventOf(0)) as object),
    event_type: 'http_request_complete.v0',
    object: { http: { request: { method: 'brew' }, response: { status_code: 503 } } },
    span,
  });
}

describe('a traced request', () => {
  const EDGE = (port: number) => ({
    service_name: 'service',
    backends: { app: { static: { address: `127.0.0.1:${port}` } } },
    edges: {
      https: {
        main: {
          hostports: ['app.test:443'],
          routes: [
            { match_type: 'path_prefix', match: '/shop', backend: { backend_id: 'app' } },
            {
              match_type: 'exact_path',
              match: '/closed',
              ip_restriction: { ip_policy_ids: ['none'] },
              backend: { backend_id: 'app' },
            },
          ],
        },
      },
    },
    ip_policies: { none: { rules: [{ cidr: '0.0.0.0/0', action: 'deny' }] } },
  });

  async function traced() {
    const seen: NodeJS.Dict<string | string[]>[] = [];
    const upstream = createServer((request, response) => {
      seen.push(request.headers);
      response.end('ok');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    open.push(() => upstream.close() && upstream.closeAllConnections());
    const { url, requests } = await collector();
    const delivering = await deliver(memoryOutbox({ ed_1: settingsOf(url) }), {
      ...world,
      random: () => 0.5,
    });
    const edge = createEdge(EDGE((upstream.address() as AddressInfo).port), {
      tracing: delivering.wantsSpans,
      onEvent: (event, explain) => delivering.traffic(event, explain),
      adoptHosts: 'any',
    });
    const listening = await edge.listen({ port: 0 });
    open.push(() => listening.close(0));
    const get = async (path: string, headers: Record<string, string> = {}): Promise<void> => {
      const response = await fetch(`${listening.url}${path}`, { headers: { host: 'app.test', ...headers } });
      await response.text();
    };
    /** The signals that were sent until the end. */
    const ended = async () => {
      await listening.close(0);
      await delivering.close();
      const of = (path: string) =>
        requests.filter((each) => each.path === path).map(({ decoded }) => decoded);
      return { spans: of('/v1/traces').flatMap(decodedSpans), logs: of('/v1/logs').flatMap(decodedLogs) };
    };
    return { seen, get, ended };
  }

  const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  it('continues the trace of the client, and the upstream sees the span of the edge as its parent', async () => {
    const { seen, get, ended } = await traced();
    await get('/shop/1?q=2', { traceparent: PARENT, tracestate: 'vendor=1' });
    const { spans, logs } = await ended();
    const [server, decision] = spans;
    expect(spans).toHaveLength(2);
    expect(server).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      traceState: 'vendor=1',
      name: 'GET /shop',
      kind: 2,
      status: {},
    });
    expect([seen[0]!['traceparent'], seen[0]!['tracestate']]).toEqual([
      `00-${server!.traceId}-${server!.spanId}-01`,
      'vendor=1',
    ]);
    expect(valuesOf(server!.attributes)).toMatchObject({
      'http.request.method': 'GET',
      'url.path': '/shop/1',
      'url.query': 'q=2',
      'http.route': '/shop',
      'http.response.status_code': '200',
      'client.address': '127.0.0.1',
      'edgeproof.backend.id': 'app',
      'edgeproof.decision.verdict': 'pass',
    });
    expect(BigInt(server!.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(server!.startTimeUnixNano));
    expect(decision).toMatchObject({ traceId: server!.traceId, parentSpanId: server!.spanId, kind: 1 });
    expect(logs).toHaveLength(1);
    expect(logs[0]).toMatchObject({ traceId: server!.traceId, spanId: server!.spanId, severityText: 'INFO' });
    expect(logs[0]!.body.stringValue).not.toContain('"span"');
  });

  it('begins a trace without a valid traceparent, and says which step decided', async () => {
    const { seen, get, ended } = await traced();
    await get('/closed', {
      traceparent: '00-00000000000000000000000000000000-b7ad6b7169203331-01',
      tracestate: 'a=1',
    });
    await get('/shop', { tracestate: 'a=1' });
    const { spans } = await ended();
    expect(spans.map(({ name }) => name)).toEqual([
      'GET /closed',
      'decide ip_restriction',
      'GET /shop',
      expect.stringMatching(/^decide /),
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
    expect(spans[0]!.parentSpanId).toBeUndefined();
    expect(valuesOf(spans[1]!.attributes)).toMatchObject({ 'edgeproof.decision.verdict': 'stop' });
    expect(seen).toHaveLength(1);
    expect(seen[0]!['tracestate']).toBeUndefined();
    expect(seen[0]!['traceparent']).toBe(`00-${spans[2]!.traceId}-${spans[2]!.spanId}-01`);
  });

  it('of a trace that is not sampled has a log, no span, and the flag passes on', async () => {
    const { seen, get, ended } = await traced();
    await get('/shop', { traceparent: PARENT.replace(/01$/, '00') });
    const { spans, logs } = await ended();
    expect(spans).toEqual([]);
    expect(logs.map(({ traceId }) => traceId)).toEqual(['0af7651916cd43dd8448eb211c80319c']);
    expect(seen[0]!['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
  });
});

function valuesOf(given: readonly DecodedAttribute[]): Record<string, string | undefined> {
  return Object.fromEntries(given.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}

it('a failing span has the status of an error, and an unknown method no name of its own', async () => {
  const { url, requests } = await collector();
  const target = targetOf('ed_1', settingsOf(url, { encoding: 'json', signals: ['traces'] }), world);
  await target.send([tracedEvent(), eventOf(1)]);
  const { resourceSpans } = JSON.parse(requests[0]!.body) as {
    resourceSpans: {
      scopeSpans: { spans: { name: string; status: object; attributes: DecodedAttribute[] }[] }[];
    }[];
  };
  const [server] = resourceSpans[0]!.scopeSpans[0]!.spans;
  expect([server!.name, server!.status]).toEqual(['HTTP', { code: 2 }]);
  expect(valuesOf(server!.attributes)).toMatchObject({
    'http.request.method': '_OTHER',
    'http.request.method_original': 'brew',
    'error.type': '503',
  });
  expect(idOf(eventOf(1))).toBe('ev_00001');
});
