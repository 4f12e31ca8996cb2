import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replay } from '../../src/replay/replay.ts';
import { recordingSink } from '../../src/replay/recording_sink.ts';
import type { RecordedExchange } from '../../src/replay/recording.ts';
import { readRecording } from '../../src/replay/read_recording.ts';
import type { LogRecord } from '../../src/replay/log_record.ts';
import { type Asked, configOf, createEdge, deny, eventAt, policyOf, replayed } from './edges.ts';
import { sized } from '../random.ts';

const PLAIN = createEdge(configOf({}));
const BASIC = { actions: [{ type: 'basic-auth', config: { credentials: ['alice:secret-1234'] } }] };
const LANE = "getReqHeader('x-lane').size() > 0 && getReqHeader('x-lane')[0] == 'Blue'";

/** Two backends behind a weighted one. */
function weighted(app: number, modules: object = {}, rest: object = {}): object {
  const backends = {
    app: { static: { address: 'localhost:1' } },
    other: { static: { address: 'localhost:2' } },
    down: { http_response: { status_code: 503, body: 'closed' } },
    split: { weighted: { app, other: 1 } },
  };
  return configOf({ backend: { backend_id: 'split' }, ...modules }, { backends, ...rest });
}

/** The report of a replay of these records. */
function said(before: object | null, after: object, ...records: readonly LogRecord[]) {
  const running = replay(replayed(after), before === null ? null : replayed(before));
  const found: string[] = [];
  for (const record of records) running.take(record, (each) => found.push(`${each.finding}: ${each.cause}`));
  return found;
}

const events = (...asked: readonly Asked[]) => asked.map((each, at) => eventAt(PLAIN, each, at + 1));

describe('two configurations with the same unknowns', () => {
  it('is CHANGED when all possible outcomes differ, whatever the weights', () => {
    const [record] = events({});
    const outage = weighted(9, { backend: { backend_id: 'down' } });
    expect(said(weighted(9), outage, record!)).toEqual([
      'changed: forwarded to one of app, other → forwarded to down',
    ]);
    const guarded = weighted(9, policyOf([deny("req.url.path.startsWith('/admin')")]));
    const [admin] = events({ path: '/admin' });
    expect(said(guarded, weighted(5), admin!)).toEqual([
      'changed: 403 by traffic_policy (traffic_policy.denied) → forwarded to one of app, other',
    ]);
    expect(said(weighted(9), weighted(5), record!)).toEqual(['unknown: chance: other weights']);
    expect(said(weighted(9), weighted(9), record!)[0]).toMatch(/^same/);
    // Other backends of the file do not affect the choice.
    expect(said(weighted(9), weighted(9, {}, { tls_certificates: {} }), record!)[0]).toMatch(/^same/);
  });

  it('is SAME for identical files, whatever the log lacks', () => {
    const limit = { name: 'l', algorithm: 'sliding_window', capacity: 5, rate: '60s' };
    const keyed = { type: 'rate-limit', config: { ...limit, bucket_key: ["getReqHeader('x-key')[0]"] } };
    const files = [
      configOf(policyOf([BASIC])),
      configOf(policyOf([deny(LANE)])),
      configOf(policyOf([{ actions: [keyed] }])),
      configOf({ webhook_verification: { provider: 'github', secret: 'it is a secret' } }),
      weighted(3, policyOf([deny('rand.double() < 0.5')])),
    ];
    const asked = { headers: { 'x-lane': 'Blue', 'x-key': 'Abc', authorization: 'Basic YTpi' } };
    const log = events(asked, { ...asked, method: 'POST' }, asked);
    for (const file of files)
      expect(said(file, file, ...log).map((each) => each.split(':')[0])).toEqual(['same', 'same', 'same']);
  });

  it('cancels what both ask in the same words', () => {
    const log = events({ path: '/a', headers: { 'x-lane': 'Blue' } });
    const before = configOf(policyOf([deny(LANE)]));
    const more = configOf(policyOf([deny("req.url.path == '/b'"), deny(LANE)]));
    expect(said(before, more, ...log)[0]).toMatch(/^same/);
    const opened = configOf(policyOf([deny(`${LANE} && req.method == 'POST'`)]));
    expect(said(before, opened, ...log)).toEqual(['unknown: case of x-lane']);
    const negated = configOf(policyOf([deny(`!(${LANE})`)]));
    expect(said(before, negated, ...log)[0]).toMatch(/^changed/);
  });

  it('does not cancel questions about values that each file computes differently', () => {
    const setting = (value: string) =>
      configOf(
        policyOf([
          { actions: [{ type: 'set-vars', config: { vars: [{ lane: value }] } }] },
          deny("vars.lane == 'Blue'"),
        ]),
      );
    const log = events({ headers: { 'x-lane': 'Blue' } });
    const [one, other] = ["${getReqHeader('x-lane')[0]}", "${getReqHeader('x-lane')[0] + 'x'}"];
    expect(said(setting(one), setting(one), ...log)[0]).toMatch(/^same/);
    expect(said(setting(one), setting(other), ...log)[0]).toMatch(/^unknown/);
  });

  const conditions = [
    "getReqHeader('x-lane')[0] == 'Blue'",
    "getReqHeader('y')[0] == 'Ab'",
    "req.method == 'GET'",
  ];
  const condition: fc.Arbitrary<string> = fc.letrec<{ e: string }>((tie) => ({
    e: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom(...conditions),
      fc.tuple(tie('e'), fc.constantFrom('&&', '||'), tie('e')).map(([l, op, r]) => `(${l} ${op} ${r})`),
      tie('e').map((e) => `!(${e})`),
    ),
  })).e;

  it('never says SAME or CHANGED of what the whole request decides in another way', () => {
    const value = fc.constantFrom('Blue', 'bLUE', 'Ab', 'aB');
    fc.assert(
      fc.property(condition, condition, value, value, (one, other, lane, y) => {
        const files = [one, other].map((each) => configOf(policyOf([deny(each)])));
        let edges: ReturnType<typeof createEdge>[];
        try {
          edges = files.map((file) => createEdge(file));
        } catch {
          return; // a constant condition may be refused
        }
        const headers = { 'x-lane': lane, y };
        const [judged] = said(files[0]!, files[1]!, eventAt(PLAIN, { headers }));
        if (judged!.startsWith('unknown')) return;
        const [was, is] = edges.map((edge) => edge.decide({ url: 'https://shop.test/', headers }).status);
        expect(judged!.split(':')[0]).toBe(was === is ? 'same' : 'changed');
      }),
      sized(300, 7),
    );
  });
});

/** The recording of a request at an edge. */
async function recorded(config: object, url = 'https://shop.test/'): Promise<LogRecord> {
  const lines: RecordedExchange[] = [];
  const sink = recordingSink((line) => lines.push(line), 65_536);
  const edge = createEdge(config, { recordingSink: sink });
  const listening = await edge.listen({});
  const { hostname: host, pathname } = new URL(url);
  const asked = get(`${listening.url}${pathname}`, { headers: { host }, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  await textOf(response);
  await listening.close(0);
  const record = readRecording(JSON.parse(JSON.stringify(lines[0])) as RecordedExchange, 1);
  if ('problem' in record) throw new Error(record.problem);
  return record;
}

describe('recordings', () => {
  const answer = (body: string, status = 200) => [
    { actions: [{ type: 'custom-response', config: { status_code: status, body } }] },
  ];

  it('of a backend that answers itself are the same on the file that made them', async () => {
    const file = weighted(1, { backend: { backend_id: 'down' } });
    const record = await recorded(file);
    expect(said(null, file, record)).toEqual(['same: forwarded to down']);
    expect(said(null, weighted(1, { backend: { backend_id: 'app' } }), record)[0]).toMatch(/^changed/);
  });

  it('have the bodies of own responses, which are compared', async () => {
    const file = configOf(policyOf(answer('hello')));
    const record = await recorded(file);
    expect(said(null, file, record)[0]).toMatch(/^same/);
    expect(said(null, configOf(policyOf(answer('other'))), record)).toEqual([
      'changed: recorded another body → 200 by traffic_policy (traffic_policy.answered)',
    ]);
    expect(said(file, configOf(policyOf(answer('other'))), record)[0]).toMatch(
      /^changed: .*the response bodies differ/,
    );
  });
});

describe('a fault of the engine', () => {
  it('is not an outcome', () => {
    const [record] = events({});
    const broken = { ...record!, fetched: null, upstream: { head: null, reused: false } as never };
    const [judged] = said(configOf({}), configOf({}), broken);
    expect(judged).toMatch(/^unknown: a fault of the engine: /);
    expect(judged).not.toContain('500');
  });
});
