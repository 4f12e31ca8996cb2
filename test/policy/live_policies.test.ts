import { readFileSync, readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type EdgeOptions, createEdge } from '../../src/edgeproof.ts';
import type { FetchRequest } from '../../src/engine/contract.ts';
import type { Answers } from '../../src/engine/questions.ts';
import { connectionOf, headOf } from '../../src/engine/request_like.ts';
import { type Step, traceOf } from '../../src/engine/trace.ts';
import type { HttpRequestComplete } from '../../src/events/catalogue.ts';
import { httpRequestComplete } from '../../src/events/project.ts';
import { type FieldList, allValues, firstValue } from '../../src/http/fields.ts';
import { isFraming, isHopByHop } from '../../src/http/forwarding.ts';
import type { SimulatedRequest } from '../../src/simulator/simulated_request.ts';
import { simulatedWorld } from '../../src/simulator/simulator.ts';
import { type RecordingUpstream, recordingUpstream } from '../engine/drivers/recording_upstream.ts';
import { placeless } from '../placeless.ts';

/** One request of a case: what is sent, the scripted answers, and the expected results, live and simulated alike. */
interface Act {
  readonly request?: {
    readonly method?: string;
    readonly url?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly upstream?: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  /** Answers to control requests, by URL. */
  readonly fetch?: Readonly<Record<string, FetchScript>>;
  readonly random?: number;
  readonly after_ms?: number;
  readonly expect: {
    readonly status?: number;
    readonly steps?: readonly string[];
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly body?: string;
    readonly logs?: readonly object[];
    readonly upstream?: null | {
      readonly target?: string;
      readonly headers?: Readonly<Record<string, string | null>>;
      readonly body?: string;
    };
  };
}

interface FetchScript {
  readonly status?: number;
  readonly body?: string;
  readonly fault?: 'refuse';
}

interface LiveCase {
  readonly name: string;
  readonly times?: number;
  readonly acts: readonly Act[];
}

const FIXTURES = new URL('../../fixtures/policies/', import.meta.url);
const CASES = new URL('live_policies/', import.meta.url);
const START_MS = 1_700_000_000_000;
const SECRETS = {
  team: { ann: 'correct horse', bob: 'bob:battery staple' },
  hooks: { github: 'hush' },
  login: { secret: 'login-secret' },
  edge: { certificate: '', key: '', authority: '' },
};

let upstream: RecordingUpstream;
beforeAll(async () => {
  upstream = await recordingUpstream();
});
afterAll(() => upstream.close());

const names = readdirSync(FIXTURES).filter((name) => /\.(?:yaml|json)$/.test(name));

it('every fixture has cases', () => {
  expect(readdirSync(CASES).sort()).toEqual(names.map((name) => name.replace(/\.\w+$/, '.yaml')).sort());
});

/** HTTPS edges do not run that phase; it is for TCP and TLS edges. */
function policyOf(name: string): string {
  const { on_tcp_connect: _connections, ...rest } = parse(
    readFileSync(new URL(name, FIXTURES), 'utf8'),
  ) as Record<string, unknown>;
  return JSON.stringify(rest);
}

function configOf(name: string, address: string): object {
  const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } };
  return {
    backends: {
      app: { static: { address } },
      blog: { http_response: { status_code: 200, body: 'the blog\n' } },
    },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443', 'www.shop.test:443'],
          routes: [{ ...route, traffic_policy: { value: policyOf(name) } }],
        },
        blog: {
          hostports: ['blog.internal:443'],
          routes: [{ ...route, backend: { backend_id: 'blog' } }],
        },
      },
    },
  };
}

/** The result of one request, as far as it can be known both live and simulated. */
interface Seen {
  readonly trace: readonly Step[];
  readonly status: number;
  readonly headers: FieldList;
  /** Decompressed content. */
  readonly body: string;
  readonly logs: HttpRequestComplete['traffic_policy']['logs'];
  readonly upstream: { readonly startLine: string; readonly fields: FieldList; readonly body: string } | null;
}

class Worlds {
  nowMs = START_MS;
  act: Act = { expect: {} };

  readonly fetch = ({ url, timeoutMs }: FetchRequest): Answers['fetch'] => {
    const found = Object.entries(this.act.fetch ?? {}).find(([prefix]) => url.startsWith(prefix));
    if (found === undefined) return { failure: 'connect', detail: 'no script matches this URL' };
    const { status = 200, body = '', fault } = found[1];
    if (fault !== undefined) return { failure: 'connect', detail: `scripted fault: ${fault}` };
    expect(timeoutMs).toBeGreaterThan(0);
    return { status, headers: [], body: Buffer.from(body), resolvedIp: '', timeMs: 0 };
  };

  get options(): EdgeOptions {
    return {
      clock: () => this.nowMs,
      random: () => this.act.random ?? 0.5,
      secrets: SECRETS,
      clients: { fetch: this.fetch },
      passUnsimulated: false,
    };
  }
}

function requestOf({ request = {} }: Act) {
  const { method = 'GET', url = 'http://shop.test/', headers = {}, body = '' } = request;
  const parsed = new URL(url);
  const fields: [string, string][] = [['Host', parsed.host], ...Object.entries(headers)];
  if (body !== '') fields.push(['Content-Length', String(Buffer.byteLength(body))]);
  return { method, url, host: parsed.host, target: url.slice(parsed.origin.length) || '/', fields, body };
}

function sentHeaders({ headers = {} }: NonNullable<Act['upstream']>): FieldList {
  return Object.entries(headers).flat();
}

/** Runs the requests in the simulator. */
function simulate(name: string, acts: readonly Act[]): Seen[] {
  const worlds = new Worlds();
  const edge = createEdge(configOf(name, '127.0.0.1:1'), worlds.options);
  const world = simulatedWorld(
    { fresh: edge.runtime.current, extended: edge.runtime.current },
    {
      startMs: START_MS,
      seed: 1,
      random: worlds.options.random!,
    },
  );
  return acts.map((act) => {
    worlds.act = act;
    world.clock.advanceTo(world.clock.nowMs() + (act.after_ms ?? 0));
    const { upstream: { status = 200, body = '' } = {} } = act;
    const framing = ['connection', 'close', 'content-length', String(Buffer.byteLength(body))];
    world.upstreams.set('app', {
      answers: [
        {
          status,
          headers: [...framing, ...sentHeaders(act.upstream ?? {})],
          body: Buffer.from(body),
          latencyMs: 0,
          fault: null,
        },
      ],
      afterwards: 'last',
    });
    for (const [url, answer] of Object.entries(act.fetch ?? {})) {
      const bytes = Buffer.from(answer.body ?? '');
      world.upstreams.set(url, {
        answers: [
          {
            status: answer.status ?? 200,
            headers: [],
            body: bytes,
            latencyMs: 0,
            fault: answer.fault ?? null,
          },
        ],
        afterwards: 'last',
      });
    }
    const { method, url, fields, body: sent } = requestOf(act);
    const head = headOf({ method, url, headers: fields });
    const connection = connectionOf({ clientIp: '127.0.0.1' }, 'http', world.clock.nowMs());
    const simulated = world.begin({ head, connection, body: Buffer.from(sent), leaveAfterMs: -1 });
    world.settle();
    return seenOf(simulated);
  });
}

function seenOf({ exchange, response, seen }: SimulatedRequest): Seen {
  const last = seen?.at(-1);
  return {
    trace: plain(traceOf(exchange)),
    status: response.status,
    headers: endToEnd(response.headers),
    body: Buffer.from(response.body).toString(),
    logs: httpRequestComplete(exchange).traffic_policy.logs,
    upstream:
      last === undefined
        ? null
        : {
            startLine: `${last.request.method} ${last.request.target} HTTP/1.1`,
            fields: endToEnd(last.request.headers),
            body: Buffer.from(last.body).toString(),
          },
  };
}

/** Runs the requests on sockets: a client, the listener, an upstream that records every byte. */
async function live(name: string, acts: readonly Act[]): Promise<Seen[]> {
  const worlds = new Worlds();
  const complete: { readonly trace: readonly Step[]; readonly logs: Seen['logs'] }[] = [];
  const waiting: (() => void)[] = [];
  const edge = createEdge(configOf(name, upstream.address), {
    ...worlds.options,
    onEvent: ({ object }, explain) => {
      const trace = placeless(explain().steps);
      complete.push({ trace, logs: object.traffic_policy.logs });
      waiting.shift()?.();
    },
  });
  const listening = await edge.listen();
  try {
    const seen: Seen[] = [];
    for (const act of acts) {
      worlds.act = act;
      worlds.nowMs += act.after_ms ?? 0;
      const { status = 200, body = '' } = act.upstream ?? {};
      upstream.answer = { status, headers: sentHeaders(act.upstream ?? {}), body };
      upstream.requests.length = 0;
      const told = new Promise<void>((resolve) => waiting.push(resolve));
      const response = await send(listening.port, act);
      await told;
      const [raw] = upstream.requests;
      expect(upstream.requests.length).toBeLessThanOrEqual(1);
      seen.push({
        ...complete.at(-1)!,
        trace: plain(complete.at(-1)!.trace),
        ...response,
        upstream:
          raw === undefined
            ? null
            : { startLine: raw.startLine, fields: endToEnd(raw.fields), body: raw.body.toString() },
      });
    }
    return seen;
  } finally {
    await listening.close(0);
  }
}

const UNDO: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

function send(port: number, act: Act): Promise<Pick<Seen, 'status' | 'headers' | 'body'>> {
  const { method, target, fields, body } = requestOf(act);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { port, host: '127.0.0.1', method, path: target, headers: fields.flat(), setHost: false, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const headers = endToEnd(response.rawHeaders);
          const bytes = Buffer.concat(chunks);
          const undo = UNDO[firstValue(headers, 'content-encoding') ?? ''];
          resolve({ status: response.statusCode!, headers, body: (undo?.(bytes) ?? bytes).toString() });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Names in lower case; without fields that belong to one connection or to the sender. */
function endToEnd(fields: FieldList): string[] {
  const kept: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!.toLowerCase();
    if (!isFraming(name) && !isHopByHop(name) && name !== 'date') kept.push(name, fields[at + 1]!);
  }
  return kept;
}

/** Plain data. Messages about failed connections differ and are left out. */
function plain(trace: readonly Step[]): Step[] {
  const text = JSON.stringify(trace, (key, value: unknown) =>
    key === 'detail' && typeof value === 'string' ? '' : value,
  );
  return JSON.parse(text) as Step[];
}

function judge(seen: Seen, { expect: wanted }: Act): void {
  const steps = seen.trace
    .filter(({ module }) => module === 'traffic_policy')
    .flatMap(({ inner = [] }) => inner.map(({ code }) => code))
    .filter((code) => code !== 'rule.applied');
  expect({ status: seen.status, steps }).toEqual({
    status: wanted.status ?? seen.status,
    steps: wanted.steps ?? steps,
  });
  for (const [name, value] of Object.entries(wanted.headers ?? {})) {
    expect([name, firstValue(seen.headers, name) ?? null]).toEqual([name, value]);
  }
  if (wanted.body !== undefined) expect(seen.body).toBe(wanted.body);
  if (wanted.logs !== undefined) expect(seen.logs.map(({ metadata }) => metadata)).toEqual(wanted.logs);
  if (wanted.upstream === null) expect(seen.upstream).toBeNull();
  if (!wanted.upstream) return;
  const { target, headers = {}, body } = wanted.upstream;
  if (target !== undefined) expect(seen.upstream?.startLine.split(' ')[1]).toBe(target);
  for (const [name, value] of Object.entries(headers)) {
    expect([name, allValues(seen.upstream?.fields ?? [], name).join(', ') || null]).toEqual([name, value]);
  }
  if (body !== undefined) expect(seen.upstream?.body).toBe(body);
}

describe.each(names)('%s: simulated and live', (name) => {
  const cases = parse(readFileSync(new URL(name.replace(/\.\w+$/, '.yaml'), CASES), 'utf8')) as LiveCase[];

  it.each(cases.map((each) => [each.name, each] as const))('%s', async (_name, { acts, times = 1 }) => {
    const all = Array.from({ length: times }, () => acts).flat();
    const simulated = simulate(name, all);
    for (const [index, act] of all.entries())
      if (index >= all.length - acts.length) judge(simulated[index]!, act);
    expect(await live(name, all)).toEqual(simulated);
  });
});
