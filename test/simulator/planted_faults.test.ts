import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { beginExchange } from '../../src/edge/begin_exchange.ts';
import type { Verdict } from '../../src/engine/contract.ts';
import type { CompiledFilter } from '../../src/engine/pipeline.ts';
import { SHOP, failed, runText } from './scenario.ts';
import { breaking } from './breaking.ts';

const TEXT = readFileSync(SHOP, 'utf8');

const withVerdict =
  (change: (verdict: Verdict) => Verdict) =>
  (slot: CompiledFilter): Partial<CompiledFilter> => ({
    onRequest: (...args) => {
      const verdict = slot.onRequest!(...args);
      return verdict.verdict === 'ask' ? verdict : change(verdict);
    },
  });
const passing = (code: string) =>
  withVerdict((verdict) => ({ verdict: 'pass', reason: { ...verdict.reason, code } }));

// table: a fault each, and the cases that catch it
const FAULTS: readonly (readonly [message: string, begin: typeof beginExchange, caught: RegExp])[] = [
  [
    'lets every address in',
    breaking('ip_restriction', passing('ip_restriction.allowed')),
    /^admin is only for the office/,
  ],
  ['lets bots in', breaking('user_agent_filter', passing('user_agent_filter.allowed')), /^bots/],
  ['never trips the breaker', breaking('circuit_breaker', () => ({ reduce: null })), /^the breaker/],
  [
    'loses the edits of a response',
    breaking('response_headers', () => ({ onResponse: null })),
    /^a page comes/,
  ],
  [
    'gives a wrong reason for a right decision',
    breaking(
      'ip_restriction',
      withVerdict((verdict) => ({
        ...verdict,
        reason: { ...verdict.reason, code: 'ip_restriction.allowed' },
      })),
    ),
    /not_allowed|denied/,
  ],
  [
    'asks chance twice',
    breaking('backend', (slot) => ({
      onRequest: (request, connection, state, world) =>
        slot.onRequest!(request, connection, state, {
          nowMs: () => world.nowMs(),
          random: () => (world.random() + world.random()) / 2,
        }),
    })),
    /^nine of ten/,
  ],
  [
    'reads the real clock',
    breaking('circuit_breaker', (slot) => ({
      onRequest: (request, connection, state, world) =>
        slot.onRequest!(request, connection, state, {
          random: () => world.random(),
          nowMs: () => performance.timeOrigin + performance.now(),
        }),
    })),
    /^the breaker/,
  ],
  [
    'forgets the route for a case of letters',
    (edge, connection, head, world) =>
      beginExchange(edge, connection, { ...head, path: head.path.replace('/admin', '/') }, world),
    /^admin/,
  ],
];

describe('the fixtures', () => {
  it('pass without a fault', () => {
    expect(failed(runText(TEXT))).toEqual([]);
  });

  it.each(FAULTS)('detect an edge that %s', (_says, begin, caught) => {
    const names = failed(runText(TEXT, { begin }));
    expect(names).toContainEqual(expect.stringMatching(caught));
  });
});

/** Each expectation of the fixtures, changed. */
const MUTATIONS: readonly (readonly [string, string])[] = [
  ['status: 200\n      headers', 'status: 201\n      headers'],
  ['x-served-by: edgeproof,', 'x-served-by: other,'],
  ['server: absent', 'server: { absent: false }'],
  ['path: /page,', 'path: /pages,'],
  ['query: x=1', 'query: x=2'],
  ['x-forwarded-proto: https', 'x-forwarded-proto: http'],
  ['connection: absent', 'connection: close'],
  ['next: 0.1', 'next: 0.0999999'],
  ['app: 9/10', 'app: 8/9'],
  ['{ app: 0.9 }, method', '{ app: 0.8 }, method'],
  ['status: 200, code: ip_restriction.allowed', 'status: 403, code: ip_restriction.allowed'],
  ['status: 403, code: ip_restriction.denied', 'status: 403, code: ip_restriction.allowed'],
  ['upstream: none\n      because', 'upstream: app\n      because'],
  ["rule: 'deny[0]'", "rule: 'deny[1]'"],
  ['reason: denied', 'reason: missing'],
  ['ip_restriction: allow,', 'ip_restriction: block,'],
  ['circuit_breaker: not_run', 'circuit_breaker: allow'],
  ['http.response.status_code: 403', 'http.response.status_code: 404'],
  ['http.response.status_code: 403', 'http.response.headers: absent'],
  ['500: 5, 503: 15', '500: 6, 503: 14'],
  ['circuit_breaker: block', 'circuit_breaker: allow'],
  ['circuit_breaker: allow_while_open', 'circuit_breaker: allow'],
  ['because: request.malformed', 'because: request.method'],
  ['duration: 60000', 'duration: { at_most: 59999 }'],
];

describe('a changed expectation', () => {
  it.each(MUTATIONS)('%j → %j fails one case', (from, to) => {
    expect(TEXT).toContain(from);
    const result = runText(TEXT.replace(from, to));
    expect(result.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(failed(result)).toHaveLength(1);
  });
});
