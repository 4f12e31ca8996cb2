import { describe, expect, test } from 'vitest';
import type { Verdict, Ask } from '../../../src/engine/contract.ts';
import { answer, start } from '../../../src/engine/run.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { runRequest } from '../../../src/policy/phases.ts';
import { REPLACING_LIMIT_BYTES } from '../../../src/filters/replacing.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { ALONE, type Route, connectionOf, headOf, play, policyOf, routeOf, steadyWorld } from './stage.ts';

const ANSWERED = {
  status: 200,
  headers: [],
  body: new Uint8Array(0),
  resolvedIp: '198.51.100.1',
  timeMs: 1,
} as const;

/** A request that is waiting for an answer. */
function begin({ pipeline, world }: Route): Exchange {
  const reason = { code: 'route.matched', detail: {} } as const;
  const exchange = new Exchange(ALONE, connectionOf({}), headOf({}), world, pipeline, reason);
  start(exchange);
  return exchange;
}

/** Continues after the fetch; true if the request reached the upstream. */
function isForwarded(exchange: Exchange): boolean {
  return answer(exchange, ANSWERED)?.ask === 'forward';
}

const rateLimit = {
  type: 'rate-limit',
  config: {
    name: 'n',
    algorithm: 'sliding_window',
    capacity: 1,
    rate: '60s',
    bucket_key: ['conn.client_ip'],
  },
};
const fetchFirst = { type: 'http-request', config: { url: 'https://api.example' } };

describe('concurrent suspended requests', () => {
  test('do not share the last place of a rate limit', () => {
    const route = routeOf(JSON.stringify({ on_http_request: [{ actions: [fetchFirst, rateLimit] }] }));
    const waiting = [begin(route), begin(route), begin(route)];
    expect(waiting.map(isForwarded)).toEqual([true, false, false]);
  });

  test('nor one that was counted before they were suspended', () => {
    const route = routeOf(JSON.stringify({ on_http_request: [{ actions: [rateLimit, fetchFirst] }] }));
    const [first, second] = [begin(route), begin(route)];
    expect(second.stage).toBe('reply');
    expect(isForwarded(first)).toBe(true);
  });

  test('are not both probes of a circuit', () => {
    const config = { volume_threshold: 1, error_threshold: 0, tripped_duration: '10s' };
    const breaker = { type: 'circuit-breaker', config };
    const route = routeOf(JSON.stringify({ on_http_request: [{ actions: [breaker, fetchFirst] }] }));
    play(route, {}, { fetch: () => ANSWERED, upstream: { status: 500 } });
    route.world.nowAtMs += 10_000;
    const [probe, other] = [begin(route), begin(route)];
    expect(other.stage).toBe('reply');
    expect(isForwarded(probe)).toBe(true);
  });
});

describe('bodies beyond the limit', () => {
  const config = { replacements: [{ from: 'a', to: 'bb' }] };
  const tooLarge = 'a'.repeat(REPLACING_LIMIT_BYTES + 1);
  const justFits = 'a'.repeat(REPLACING_LIMIT_BYTES);

  test.each([
    [
      'a request that is too large',
      'on_http_request',
      'request-body-find-replace',
      tooLarge,
      'ERR_SERVICE_3903',
    ],
    [
      'a request that would become too large',
      'on_http_request',
      'request-body-find-replace',
      justFits,
      'ERR_SERVICE_3904',
    ],
    [
      'a response that is too large',
      'on_http_response',
      'response-body-find-replace',
      tooLarge,
      'ERR_SERVICE_3903',
    ],
    [
      'a response that would become too large',
      'on_http_response',
      'response-body-find-replace',
      justFits,
      'ERR_SERVICE_3904',
    ],
  ])('%s stops', (_what, phase, type, body, code) => {
    const route = routeOf(JSON.stringify({ [phase]: [{ actions: [{ type, config }] }] }));
    const { reply } = play(route, { method: 'POST', body }, { upstream: { body } });
    expect(reply.status).toBe(500);
    expect(reply.headers).toContain(code);
  });
});

test('results and codes contain the service name', () => {
  const branding = brandingOf('acme');
  const text = JSON.stringify({
    on_http_request: [
      { actions: [{ type: 'restrict-ips', config: { allow: ['10.0.0.0/8'], enforce: false } }] },
      { expressions: ["actions.acme.restrict_ips.action == 'deny'"], actions: [{ type: 'deny' }] },
    ],
  });
  const policy = policyOf(text, { branding });
  const verdict = runRequest(policy, headOf({}), connectionOf({}), null, steadyWorld()) as Verdict;
  expect(verdict).toMatchObject({ verdict: 'stop', response: { status: 403 } });
});

test('a policy without questions runs synchronously, and one without an applying rule allocates no verdict', () => {
  const policy = policyOf(
    JSON.stringify({
      on_http_request: [{ expressions: ["req.method == 'PUT'"], actions: [{ type: 'deny' }] }],
    }),
  );
  const decide = (): Verdict | Ask => runRequest(policy, headOf({}), connectionOf({}), null, steadyWorld());
  expect(decide().verdict).toBe('pass');
  expect(decide()).toBe(decide());
  expect(policy.initial).toBeNull();
});
