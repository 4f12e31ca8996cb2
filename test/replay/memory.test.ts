import { describe, expect, it } from 'vitest';
import type { ReplayedEdge } from '../../src/replay/decide.ts';
import type { Decided } from '../../src/replay/decided.ts';
import type { LogRecord } from '../../src/replay/log_record.ts';
import { configOf, createEdge, deny, eventAt, policyOf, replayed } from './edges.ts';

const PLAIN = createEdge(configOf({}));
/** Unknown wherever a condition tests for `A`: events keep the value in lower case only. */
const DOUBT = deny("hasReqHeader('x') && getReqHeader('x')[0] == 'A'");
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const action = (type: string, config: object) => ({ actions: [{ type, config }] });
const limit = (rate: string) =>
  action('rate-limit', {
    name: 'l',
    algorithm: 'sliding_window',
    capacity: 1,
    rate,
    bucket_key: ['conn.client_ip'],
  });

function at(ms: number, headers: Readonly<Record<string, string>> = {}, status = 200): LogRecord {
  return { ...eventAt(PLAIN, { headers, status }), atMs: ms };
}

const unknowns = ({ unknown }: Decided) => unknown.map(({ attribute }) => attribute);

/** What is unknown about a request `ms` after one whose decision is unknown. */
function after(edge: () => ReplayedEdge, ms: number): readonly string[] {
  const replay = edge();
  expect(unknowns(replay.decide(at(0, { x: 'a' })))).toContain('case of x');
  return unknowns(replay.decide(at(ms)));
}

describe('the windows of counters in a replay', () => {
  const yaml = (rate: string) => ({
    traffic_policy: {
      value: `
on_http_request:
  - expressions: ["hasReqHeader('x') && getReqHeader('x')[0] == 'A'"]
    actions: [{ type: deny }]
  - actions:
      - type: rate-limit
        config:
          name: l
          algorithm: sliding_window
          capacity: 1
          rate: ${rate}
          bucket_key: [conn.client_ip]
`,
    },
  });

  it.each([['10m'], ['"10m"'], ["'600s'"], ['1h']])('is the window of the limit, written %s', (rate) => {
    const minutes = rate === '1h' ? 60 : 10;
    const edge = () => replayed(configOf(yaml(rate)));
    expect(after(edge, minutes * MINUTE)).toEqual(['counters']);
    // A request counts for at most a tenth longer than the window.
    expect(after(edge, minutes * MINUTE * 1.1)).toEqual([]);
  });

  it('does not depend on durations of other actions', () => {
    const fetching = action('http-request', { url: 'https://authz.test/check', timeout: '30s' });
    const edge = () =>
      replayed(configOf(policyOf([DOUBT, limit('60s'), deny("req.method == 'x'"), fetching])));
    expect(after(edge, 67 * SECOND)).toEqual(['answer of https://authz.test/check']);
  });

  it('is that of each counter, if there are several', () => {
    const edge = () => replayed(configOf(policyOf([DOUBT, limit('60s'), limit('24h')])));
    const replay = edge();
    replay.decide(at(0, { x: 'a' }));
    const { unknown } = replay.decide(at(70 * SECOND));
    expect(unknown.map(({ pointer }) => pointer)).toEqual([
      '/edges/https/shop/routes/0/traffic_policy/value/on_http_request/2/actions/0',
    ]);
  });

  const breakers: readonly (readonly [string, () => ReplayedEdge])[] = [
    [
      'a module',
      () =>
        replayed(
          configOf({
            ...policyOf([DOUBT]),
            circuit_breaker: { rolling_window: 100, tripped_duration: 20, volume_threshold: 1 },
          }),
        ),
    ],
    [
      'an action',
      () =>
        replayed(
          configOf(
            policyOf([
              DOUBT,
              action('circuit-breaker', {
                window_duration: '100s',
                tripped_duration: '20s',
                volume_threshold: 1,
              }),
            ]),
          ),
        ),
    ],
  ];
  it.each(breakers)('is the window and the pause of a circuit: %s', (_, edge) => {
    expect(after(edge, 119 * SECOND)).toEqual(['counters']);
    expect(after(edge, 120 * SECOND)).toEqual([]);
  });

  it.each(breakers)('does not end for an open circuit before a request succeeds: %s', (_, edge) => {
    const replay = edge();
    replay.decide(at(0, { x: 'a' }));
    // Much later, a circuit that had tripped probes, and one that had not counts a first failure.
    expect(unknowns(replay.decide(at(1_000 * SECOND, {}, 500)))).toEqual([]);
    expect(unknowns(replay.decide(at(1_010 * SECOND)))).toEqual(['counters']);
    expect(unknowns(replay.decide(at(2_000 * SECOND)))).toEqual([]);
    expect(unknowns(replay.decide(at(3_000 * SECOND)))).toEqual([]);
    expect(unknowns(replay.decide(at(3_010 * SECOND)))).toEqual([]);
  });

  it('includes internal endpoints', () => {
    const inside = (inner: object) => {
      const { edges, ...rest } = configOf(
        policyOf([
          { ...DOUBT, actions: [{ type: 'deny' }] },
          action('forward-internal', { url: 'https://inner.internal' }),
        ]),
      ) as { readonly edges: { readonly https: object } };
      return replayed({
        ...rest,
        edges: {
          https: {
            ...edges.https,
            inner: {
              hostports: ['inner.internal:443'],
              routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, ...inner }],
            },
          },
        },
      });
    };
    expect(after(() => inside(policyOf([limit('60s')])), 30 * SECOND)).toEqual(['counters']);
    expect(after(() => inside(policyOf([limit('60s')])), 70 * SECOND)).toEqual([]);
    // The unknown may also be inside.
    const own = inside(policyOf([DOUBT, limit('60s')]));
    own.decide(at(0, { x: 'a' }));
    expect(unknowns(own.decide(at(30 * SECOND)))).toEqual(['counters']);
  });
});

describe('the inputs of filters in a replay', () => {
  const jwt = (name: string) =>
    action('jwt-validation', {
      issuer: { allow_list: [{ value: 'https://issuer.test/' }] },
      http: { tokens: [{ type: 'jwt', method: 'header', name, prefix: '' }] },
      jws: {
        allowed_algorithms: ['RS256'],
        keys: { sources: { additional_jkus: ['https://issuer.test/keys'] } },
      },
    });

  it('is the field with the token, under any name', () => {
    const unknownOf = (headers: Readonly<Record<string, string>>) =>
      unknowns(replayed(configOf(policyOf([jwt('X-Token')]))).decide(at(0, headers)));
    expect(unknownOf({ 'x-token': 'Abc.Def.Ghi' })).toEqual(['value of x-token']);
    expect(unknownOf({ authorization: 'Bearer x' })).toEqual([]);
  });

  it('is the key set that an earlier request could not fetch', () => {
    const token = ['{"alg":"RS256","kid":"a"}', '{"iss":"https://issuer.test/"}', 'signature']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');
    const record: LogRecord = { ...at(0, { 'x-token': token }), keptCase: 'all' };
    const head = 'refused' in record.head ? record.head.head : record.head;
    const headers = head.headers.map((text) => (text.toLowerCase() === token.toLowerCase() ? token : text));
    const known = { ...record, head: { ...head, headers } };
    const replay = replayed(configOf(policyOf([jwt('x-token')])));
    expect(unknowns(replay.decide(known))).toEqual(['answer of https://issuer.test/keys']);
    expect(unknowns(replay.decide({ ...known, atMs: 5 * SECOND }))).toEqual(['counters']);
  });
});

describe('the order of decisions in a replay', () => {
  const isOrderless = (modules: object, rest = {}) =>
    replayed(configOf(modules as Record<string, unknown>, rest)).isOrderless;

  it('does not matter without counting and comparing times', () => {
    expect(isOrderless({})).toBe(true);
    expect(isOrderless(policyOf([deny("req.url.path == '/oauth/jwt'")]))).toBe(true);
    expect(isOrderless(policyOf([limit('60s')]))).toBe(false);
    expect(isOrderless(policyOf([deny("time.now > '2026'")]))).toBe(false);
    expect(isOrderless({ webhook_verification: { provider: 'github', secret: 'it is a secret' } })).toBe(
      false,
    );
    expect(
      isOrderless(policyOf([action('verify-webhook', { provider: 'github', secret: 'a secret' })])),
    ).toBe(false);
  });
});
