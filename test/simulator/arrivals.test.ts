import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import type { LoggedArrivals } from '../../src/simulator/arrivals.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { rateCurve } from '../../src/simulator/rate_curve.ts';
import { compileSimulation, simulate } from '../../src/simulator/simulation.ts';
import { headOf, connectionOf } from '../../src/engine/request_like.ts';
import { sized } from '../random.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { usable } from '../../src/edgeproof.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';

const { config } = usable(
  checkWholeEdge({
    value: {
      backends: { app: { static: { address: 'localhost:1' } } },
      edges: {
        https: {
          web: {
            hostports: ['shop.test:443'],
            routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
          },
        },
      },
    },
  }),
);
const EDGE = edgeFixture(config, () => null);

const NO_LOGS: ReadonlyMap<string, LoggedArrivals> = new Map();

function run(simulation: object, logs = NO_LOGS, rest: object = {}) {
  const checked = checkScenario({ value: { edge: 'edge', simulation, ...rest }, name: 'x' });
  const findings: Diagnostic[] = [...checked.diagnostics];
  if (checked.scenario === null) return { findings, sentMs: [], simulated: null };
  const { shell } = checked.scenario;
  const setting = { checked, shell, edge: config, signer: null, seed: null };
  const compiled = compileSimulation(setting, findings, logs);
  const sentMs: number[] = [];
  const simulated =
    compiled && simulate(compiled, EDGE, (each) => void sentMs.push(each.sentMs - compiled.startMs));
  return { findings, sentMs: sentMs.sort((one, other) => one - other), simulated };
}

describe('a rate curve', () => {
  it('has steps, ramps and pauses', () => {
    const rate = [
      { at: '0s', rate: 2 },
      { at: '2s', rate: 0 },
      { at: '4s', rate: 1 },
      { at: '8s', rate: 3, ramp: true },
    ];
    const { sentMs, findings } = run({ duration: '10s', arrivals: [{ rate, model: 'constant' }] });
    expect(findings).toEqual([]);
    expect(sentMs.slice(0, 4)).toEqual([0, 500, 1_000, 1_500]);
    // 4 until 2 s, none until 4 s, (1 + 3) / 2 · 4 s = 8 until 8 s, 6 until 10 s.
    const within = (from: number, until: number) => sentMs.filter((ms) => ms >= from && ms < until).length;
    expect([within(0, 2_000), within(2_000, 4_000), within(4_000, 8_000), within(8_000, 10_000)]).toEqual([
      4, 0, 8, 6,
    ]);
    // The fourth of those on the ramp: t + t²/4 = 4.
    expect(sentMs[8]).toBeCloseTo(4_000 + (-2 + Math.sqrt(4 + 16)) * 1_000, 3);
  });

  it('has as many random arrivals as it says, on average', () => {
    const rate = [
      { at: '0s', rate: 0 },
      { at: '100s', rate: 40, ramp: true },
      { at: '150s', rate: 10 },
    ];
    const { sentMs } = run({ duration: '200s', arrivals: [{ rate, from: '10s' }] });
    const within = (from: number, until: number) => sentMs.filter((ms) => ms >= from && ms < until).length;
    for (const [from, until, wanted] of [
      [0, 10_000, 0],
      [10_000, 50_000, 480],
      [50_000, 100_000, 1_500],
      [100_000, 150_000, 2_000],
      [150_000, 200_000, 500],
    ] as const)
      expect(Math.abs(within(from, until) - wanted)).toBeLessThanOrEqual(5 * Math.sqrt(wanted));
  });

  it('is the inverse of its integral', () => {
    const point = fc.record({ atMs: fc.nat(5_000), rate: fc.nat(50), ramp: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(point, { minLength: 1, maxLength: 6 }),
        fc.nat(6_000),
        fc.double({ min: 0.1, max: 60, noNaN: true }),
        (given, fromMs, requests) => {
          const points = given.toSorted((one, other) => one.atMs - other.atMs);
          const until = rateCurve(points).after(fromMs, requests);
          // Numerical integration in small steps.
          const rateAt = (ms: number): number => {
            const at = points.findLastIndex(({ atMs }) => atMs <= ms);
            if (at < 0) return 0;
            const [one, next] = [points[at]!, points[at + 1]];
            if (next?.ramp !== true) return one.rate;
            return one.rate + ((next.rate - one.rate) * (ms - one.atMs)) / (next.atMs - one.atMs);
          };
          const end = Math.min(until, 20_000);
          const step = Math.max(1e-9, (end - fromMs) / 4_000);
          let sum = 0;
          for (let ms = fromMs + step / 2; ms < end; ms += step) sum += (rateAt(ms) * step) / 1_000;
          if (until === Number.POSITIVE_INFINITY || until > 20_000) expect(sum).toBeLessThan(requests + 0.2);
          else expect(Math.abs(sum - requests)).toBeLessThan(0.2);
        },
      ),
      sized(200, 5),
    );
  });
});

const logged = (path: string, atMs: number): LoggedArrivals[number] => ({
  atMs,
  request: {
    head: headOf({ method: 'GET', url: `https://shop.test${path}`, headers: [] }),
    connection: connectionOf({}, 'https', 0),
    body: new Uint8Array(),
    leaveAfterMs: -1,
  },
});

describe('arrivals from a log', () => {
  const log = new Map([['a.ndjson', [logged('/one', 0), logged('/two', 30), logged('/two', 4_000)]]]);

  it('come at its times, faster if asked for', () => {
    const { sentMs, simulated } = run({ duration: '3s', arrivals: [{ log: 'a.ndjson' }] }, log);
    expect(sentMs).toEqual([0, 30]);
    expect(simulated!.requests).toBe(2);
    const fast = { log: 'a.ndjson', speed: 2, from: '500ms', request: { path: '/other' } };
    expect(run({ duration: '3s', arrivals: [fast] }, log).sentMs).toEqual([500, 515, 2_500]);
  });
});

describe('the report', () => {
  it('shows what was offered, and what was served when', () => {
    const { simulated } = run(
      { duration: '12s', arrivals: [{ rate: 10, model: 'constant', until: '6s' }] },
      NO_LOGS,
      { upstreams: { app: { latency: '1s', workers: 5 } } },
    );
    const { buckets, servedLate } = simulated!;
    const sum = (key: 'offered' | 'served', from: number, until: number) =>
      buckets.slice(from * 10, until * 10).reduce((all, bucket) => all + bucket[key], 0);
    expect([sum('offered', 0, 6), sum('offered', 6, 12)]).toEqual([60, 0]);
    // Five workers serve five a second from 1 s on: one after 12 s.
    const served = Array.from({ length: 12 }, (_, second) => sum('served', second, second + 1));
    expect(served.reduce((one, other) => one + other) + servedLate).toBe(60);
    expect(Math.max(...served)).toBeLessThanOrEqual(6);
  });
});

describe('arrivals that do not make sense', () => {
  const wrong: readonly (readonly [arrivals: object, pointer: string])[] = [
    [{}, ''],
    [{ rate: 1, log: 'a' }, ''],
    [{ log: 'a', model: 'poisson' }, '/model'],
    [{ rate: 1, speed: 2 }, '/speed'],
    [{ rate: [] }, '/rate'],
    [
      {
        rate: [
          { at: '2s', rate: 1 },
          { at: '1s', rate: 1 },
        ],
      },
      '/rate/1/at',
    ],
    [{ rate: [{ at: '2s', rate: -1 }] }, '/rate/0/rate'],
  ];
  it.each(wrong)('%j', (arrivals, pointer) => {
    const { findings } = run({ duration: '10s', arrivals: [arrivals] });
    expect(findings.map((each) => each.pointer)).toEqual([`/simulation/arrivals/0${pointer}`]);
  });
});
