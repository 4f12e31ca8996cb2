import { describe, expect, it } from 'vitest';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { usable } from '../../src/edgeproof.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import type { FileResult } from '../../src/simulator/result.ts';
import { ONCE, runFile } from '../../src/simulator/run_file.ts';

const POLICY = {
  on_tcp_connect: [
    { name: 'not me', expressions: ["conn.client_ip == '198.51.100.7'"], actions: [{ type: 'deny' }] },
  ],
};
const CONFIG = {
  backends: { db: { static: { address: 'localhost:1' } }, app: { static: { address: 'localhost:2' } } },
  edges: {
    https: {
      web: {
        hostports: ['shop.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
      },
    },
    tcp: {
      pg: {
        hostports: ['1.tcp.test:5432'],
        traffic_policy: { value: JSON.stringify(POLICY) },
        backend: { backend_id: 'db' },
      },
    },
    tls: {
      tls: {
        hostports: ['db.test:443'],
        tls_termination: { min_version: '1.2' },
        backend: { backend_id: 'db' },
      },
    },
  },
};
const { config } = usable(checkWholeEdge({ value: CONFIG }));
const EDGE = edgeFixture(config, () => null);
const DB = '1.tcp.test:5432';

function run(timeline: readonly object[], events: object[] = []): FileResult {
  const cases = [{ name: 'a', timeline }];
  const checked = checkScenario({ name: 'x', value: { edge: 'e', cases } });
  return runFile(checked, EDGE, { ...ONCE, connected: (outcome) => void events.push(outcome.event()) });
}

/** What was not as expected. */
function failures(timeline: readonly object[]): string[] {
  const { cases, diagnostics } = run(timeline);
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return cases[0]!.mismatches.map(({ what, expected, received }) => `${what}: ${expected}, ${received}`);
}

describe('connections in timelines', () => {
  it('are open until they are closed, during requests and changes of upstreams', () => {
    const events: object[] = [];
    const { cases } = run(
      [
        {
          connect: { to: DB, as: 'first', sends: 1 },
          expect: {
            connection: 'allowed',
            backend: 'db',
            event: {
              'conn.bytes_in': 31,
              'conn.bytes_out': 200,
              'conn.start_ts': '2026-01-01T00:00:00.000Z',
            },
          },
        },
        { at: '1s', upstreams: { db: 'refuse' } },
        // The connection that is open is not affected, a new one is.
        { at: '2s', transfer: { on: 'first', sends: 10, receives: 200 } },
        {
          at: '3s',
          connect: { to: DB, sends: 9 },
          expect: { connection: 'denied', event: { 'conn.bytes_in': 0 } },
        },
        { at: '4s', send: '/', expect: { status: 200 } },
        { at: '5s', transfer: { on: 'first', sends: 20 } },
        { at: '6s', close: 'first' },
        {
          at: '7s',
          upstreams: { db: 200 },
          connect: { to: 'tls://db.test:443', as: 'late' },
          expect: 'snapshot',
        },
      ],
      events,
    );
    expect(cases[0]!.mismatches).toEqual([]);
    expect(cases[0]!.snapshots.map(({ pointer, value }) => [pointer, value])).toEqual([
      ['/cases/0/timeline/7/expect', expect.objectContaining({ connection: 'allowed', backend: 'db' })],
    ]);
    expect(
      events.map((each) => (each as { conn: { start_ts: string } }).conn.start_ts.slice(17, 19)),
    ).toEqual(['03', '00', '07']);
  });

  it('go through the rules of their edge', () => {
    const from = (ip: string, connection: string) => ({
      connect: { to: DB, ip },
      expect: { connection, ...(connection === 'denied' && { because: { rule: 'not me' } }) },
    });
    expect(failures([from('198.51.100.7', 'denied'), from('198.51.100.8', 'allowed')])).toEqual([]);
    expect(failures([{ advance: '5s', ...from('198.51.100.7', 'allowed') }])).toEqual([
      "connection at 5000 ms: 'allowed', 'denied'",
    ]);
    expect(
      failures([
        { connect: { to: 'tls://db.test:443', tls_version: '1.1' }, expect: { connection: 'allowed' } },
      ]),
    ).toHaveLength(1);
  });

  const wrong: readonly (readonly [step: object, pointer: string, message: RegExp])[] = [
    [{ close: 'frst' }, '/close', /no connection 'frst' is open/],
    [{ transfer: { on: 'x', sends: 1 } }, '/transfer/on', /no connection 'x' is open/],
    [{ connect: { to: DB, as: 'first' } }, '/connect/as', /open already/],
    [{ connect: DB, send: '/' }, '', /not send and connect/],
    [{ connect: DB, expect: { status: 200 } }, '/expect/status', /a connection has no 'status'/],
    [{ close: 'first', expect: { status: 200 } }, '/expect', /neither sends nor connects/],
    [{ connect: { to: DB, port: 1 } }, '/connect/port', /unknown key/],
  ];
  it.each(wrong)('%j is refused', (step, pointer, message) => {
    const first = { connect: { to: DB, as: 'first' }, expect: { connection: 'allowed' } };
    const [finding] = run([first, step]).diagnostics;
    expect([finding!.pointer, finding!.message]).toEqual([
      `/cases/0/timeline/1${pointer}`,
      expect.stringMatching(message),
    ]);
  });
});
