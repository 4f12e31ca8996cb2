import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { connectionOf } from '../../src/engine/request_like.ts';
import { traceOf } from '../../src/engine/trace.ts';
import type { HttpRequestComplete } from '../../src/events/catalogue.ts';
import { httpRequestComplete } from '../../src/events/project.ts';
import type { Listening } from '../../src/listening.ts';
import { dialledBackends } from '../../src/simulator/case_setting.ts';
import { compileUpstreams } from '../../src/simulator/document/answers.ts';
import { readRawRequest } from '../../src/simulator/document/raw_request.ts';
import type { SimulatedRequest } from '../../src/simulator/simulated_request.ts';
import { type SimulatedWorld, changeWorld, simulatedWorld } from '../../src/simulator/simulator.ts';
import { FIXTURE_EDGES, nearby } from '../fixture_edges.ts';
import { SEED, runs, seeded } from '../random.ts';
import { oddRequest } from './odd_requests.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const BODY = 'hello world, '.repeat(200);
const HEADERS = {
  'content-type': 'text/plain',
  etag: '"1"',
  'set-cookie': 'a=b; Path=/',
  'content-length': String(BODY.length),
};
/** Fields that belong to a connection, or to the time; `te` says whether trailers are passed on. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'date',
  'upgrade',
  'te',
]);

/** What a client, an upstream and a reader of events can see. */
interface Told {
  readonly status: number;
  readonly headers: readonly string[];
  readonly upstream: unknown;
  readonly event: unknown;
  readonly codes: readonly string[];
}

function fieldsOf(fields: readonly string[], left: ReadonlySet<string> = FRAMING): string[] {
  const found: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!.toLowerCase();
    if (!left.has(name)) found.push(`${name}: ${fields[at + 1]!}`);
  }
  return found;
}

/** An event without what differs between connections: ports, and whether one was used before. */
function eventOf({ conn, backend: _backend, http, ...rest }: HttpRequestComplete): unknown {
  const { server_port: _port, server_ip: _ip, ...place } = conn;
  const { headers, ...response } = http.response;
  const kept = Object.entries(headers).filter(([name]) => !FRAMING.has(name.toLowerCase()));
  return {
    ...rest,
    conn: place,
    http: { request: http.request, response, headers: Object.fromEntries(kept) },
  };
}

/** Of a request that is refused before its route, the listener has read no more than it needs for the refusal. */
function compared(told: Told): Partial<Told> {
  const { status, codes } = told;
  return codes[0]?.startsWith('request.') === true ? { status, codes } : told;
}

describe('odd requests to every fixture, simulated and real', () => {
  let upstream: Server;
  let asked: Told['upstream'] = null;
  beforeAll(async () => {
    upstream = createServer((message, response) => {
      const { method, url, rawHeaders } = message;
      const parts: Buffer[] = [];
      message.on('data', (part: Buffer) => void parts.push(part));
      message.on('end', () => {
        const body = Buffer.concat(parts).toString('latin1');
        asked = { method, url, headers: fieldsOf(rawHeaders), body };
        response.writeHead(200, HEADERS).end(BODY);
      });
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
  });
  afterAll(() => void upstream.close());

  async function live(
    listening: Listening,
    text: string,
    events: [HttpRequestComplete, string[]][],
  ): Promise<Told> {
    asked = null;
    events.length = 0;
    const socket = connect(Number(new URL(listening.url).port), '127.0.0.1');
    socket.write(Buffer.from(text, 'latin1'));
    const bytes = (await buffer(socket)).toString('latin1');
    while (events.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const [head = ''] = bytes.split('\r\n\r\n', 1);
    const [line = '', ...lines] = head.split('\r\n');
    const headers = lines.flatMap((each) => [
      each.slice(0, each.indexOf(':')),
      each.slice(each.indexOf(':') + 2),
    ]);
    const [event, codes] = events[0]!;
    return {
      status: Number(line.split(' ')[1] ?? 0),
      headers: fieldsOf(headers),
      upstream: asked,
      event: eventOf(event),
      codes,
    };
  }

  function simulated(world: SimulatedWorld, text: string): Told {
    const { head, body } = readRawRequest(text, 'http');
    const connection = connectionOf({ clientIp: '127.0.0.1' }, 'http', NOW_MS);
    let done: SimulatedRequest | null = null;
    world.begin({ head, body, connection, leaveAfterMs: -1 }, (each) => void (done = each));
    world.settle();
    const { response, seen, exchange } = done as unknown as SimulatedRequest;
    const last = seen?.at(-1) ?? null;
    return {
      status: response.status,
      headers: fieldsOf(response.headers),
      upstream: last && {
        method: last.request.method,
        url: last.request.target,
        headers: fieldsOf(last.request.headers),
        body: Buffer.from(last.body).toString('latin1'),
      },
      event: eventOf(httpRequestComplete(exchange)),
      codes: traceOf(exchange).map(({ code }) => code),
    };
  }

  it.each(Object.keys(FIXTURE_EDGES))('agree: %s', async (name) => {
    const config: EdgeConfig = nearby(
      FIXTURE_EDGES[name]!(),
      `127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    );
    const events: [HttpRequestComplete, string[]][] = [];
    const edge: Edge = createEdge(config, {
      clock: () => NOW_MS,
      random: () => 0.25,
      onEvent: (event, explain) => events.push([event.object, explain().steps.map(({ code }) => code)]),
    });
    const listening = await edge.listen({});
    const world = simulatedWorld(
      edgeFixture(config, () => null),
      {
        startMs: NOW_MS,
        seed: 1,
        random: () => 0.25,
      },
    );
    const answers = Object.fromEntries(
      dialledBackends(config).map((each) => [each, { headers: HEADERS, body: BODY }]),
    );
    const upstreams = compileUpstreams(answers, '', dialledBackends(config), (code) => {
      throw new Error(code);
    });
    changeWorld(world, { upstreams });
    const random = seeded(name.length);
    try {
      for (let count = runs(400, 25); count > 0; count--) {
        const text = oddRequest(config, random);
        const real = compared(await live(listening, text, events));
        const given = compared(simulated(world, text));
        expect(given, `seed ${SEED}: ${JSON.stringify(text)}`).toEqual(real);
      }
    } finally {
      await listening.close(0);
    }
  });
});
