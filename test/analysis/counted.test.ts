import { expect, test } from 'vitest';
import { certifyEquivalence } from '../../src/analysis/certify.ts';
import { compare } from '../../src/analysis/diff.ts';
import { compileEdge } from '../../src/edge/compile.ts';
import { beginStated } from '../../src/edge/connect.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { decideWithConstants } from '../../src/engine/drivers/constant.ts';
import { connectionFor, headOf } from '../../src/engine/request_like.ts';
import { hashOf, verify } from '../../src/proof/verify.ts';
import { runs, seeded } from '../random.ts';
import { chanceOf, type Chance } from './random_edges.ts';

/** What counts requests, such as a limit: equal configurations also count the same requests together. */

const limit = {
  type: 'rate-limit',
  config: {
    name: 'n',
    algorithm: 'sliding_window',
    capacity: 3,
    rate: '60s',
    bucket_key: ['conn.client_ip'],
  },
};
const breaker = {
  type: 'circuit-breaker',
  config: { volume_threshold: 3, error_threshold: 0.5, window_duration: '10s', tripped_duration: '10s' },
};
const rule = (expression: string, ...actions: readonly object[]) => ({ expressions: [expression], actions });
const METHODS = ['GET', 'POST', 'DELETE'];
const any = (methods: readonly string[]): string =>
  methods.map((each) => `req.method == '${each}'`).join(' || ');

const route = (host: string, more: object) => ({
  hostports: [`${host}:443`],
  routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, ...more }],
});
const edges = (https: object): EdgeConfig =>
  createEdge({ backends: { app: { static: { address: 'localhost:3000' } } }, edges: { https } }).config;
const withRules = (...list: readonly object[]): EdgeConfig =>
  edges({
    a: route('a.test', { traffic_policy: { value: JSON.stringify({ on_http_request: list }) } }),
  });

function isVerified(before: EdgeConfig, after: EdgeConfig): boolean {
  try {
    const hashes = [before, after].map(hashOf);
    verify(certifyEquivalence({ config: before }, { config: after }, hashes), [before, after]);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ['limit', limit],
  ['breaker', breaker],
])('one %s for two methods is not one for each', (_name, action) => {
  const [together, apart] = [
    withRules(rule(any(['GET', 'POST']), action)),
    withRules(rule(any(['GET']), action), rule(any(['POST']), action)),
  ];
  for (const [one, other] of [[together, apart] as const, [apart, together] as const]) {
    expect(compare({ config: one }, { config: other }).verdict).toBe('undecided');
    expect(isVerified(one, other)).toBe(false);
  }
});

test('the limits and breakers of two edges are not those of one for both hosts', () => {
  const policy = { traffic_policy: { value: JSON.stringify({ on_http_request: [{ actions: [limit] }] }) } };
  for (const more of [policy, { circuit_breaker: { volume_threshold: 3 } }]) {
    const apart = edges({ a: route('a.test', more), b: route('b.test', more) });
    const together = edges({ a: { ...route('a.test', more), hostports: ['a.test:443', 'b.test:443'] } });
    expect(compare({ config: apart }, { config: together }).verdict).toBe('undecided');
    expect(isVerified(apart, together)).toBe(false);
  }
});

test('a limit stays the same with another name of its edge, and with other rules before it', () => {
  const policy = { traffic_policy: { value: JSON.stringify({ on_http_request: [{ actions: [limit] }] }) } };
  const [one, other] = [edges({ a: route('a.test', policy) }), edges({ z: route('a.test', policy) })];
  expect(compare({ config: one }, { config: other }).verdict).toBe('equivalent');
  const alone = withRules(rule('true', limit));
  const behind = withRules(rule("req.method == 'get'", { type: 'deny' }), rule('true', limit));
  expect(compare({ config: alone }, { config: behind }).verdict).toBe('equivalent');
  expect(isVerified(alone, behind)).toBe(true);
});

/** Rules that count some methods together, and others that come between. */
function countingRules({ pick, real }: Chance): readonly object[] {
  return Array.from({ length: 1 + Math.floor(real() * 3) }, () => {
    const methods = METHODS.filter(() => real() < 0.6);
    const action = pick([limit, breaker, limit, { type: 'deny', config: {} }]);
    return rule(methods.length === 0 ? 'true' : any(methods), action);
  });
}

/** What the engine does with a row of requests, each after the others. */
function course(config: EdgeConfig, requests: readonly { method: string; fails: boolean }[]): unknown {
  const edge = compileEdge(config, (_route, _module, _config, initial) => initial());
  const world = { nowMs: () => Date.UTC(2026, 0, 1), random: () => 0.5 };
  return requests.map(({ method, fails }) => {
    const head = headOf({ method, url: 'https://a.test/' });
    if ('refused' in head) throw new Error('the request is refused');
    const connection = connectionFor(head, { clientIp: '192.0.2.1' });
    const upstream = { head: { status: fails ? 503 : 200, headers: [] }, reused: false } as const;
    const { response } = decideWithConstants(beginStated(edge, connection, head, world), upstream);
    return response?.status;
  });
}

test('what is called equivalent counts alike in every row of requests that is tried', () => {
  const chance = chanceOf(seeded(21));
  const verdicts = { equivalent: 0, different: 0, undecided: 0 };
  for (let round = 0; round < runs(300, 8); round++) {
    const list = countingRules(chance);
    const others = chance.pick([
      () => list.toReversed(),
      () => countingRules(chance),
      () => [...list, list[0]!],
      () => [rule("req.method == 'get'", { type: 'deny' }), ...list],
      () => list.flatMap((each) => [each, rule('false', limit)]),
    ])();
    const [one, other] = [withRules(...list), withRules(...others)];
    const { verdict } = compare({ config: one }, { config: other });
    verdicts[verdict]++;
    if (verdict !== 'equivalent') continue;
    for (let row = 0; row < 10; row++) {
      const requests = Array.from({ length: 20 }, () => ({
        method: chance.pick(METHODS),
        fails: chance.real() < 0.5,
      }));
      expect([list, others, course(other, requests)]).toEqual([list, others, course(one, requests)]);
    }
  }
  expect(verdicts.equivalent).toBeGreaterThan(0);
  expect(verdicts.undecided).toBeGreaterThan(0);
});
