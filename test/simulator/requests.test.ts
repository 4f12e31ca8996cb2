import { describe, expect, it } from 'vitest';
import { usable } from '../../src/edgeproof.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { runFile } from '../../src/simulator/run_file.ts';
import { ONCE } from '../../src/simulator/run_file.ts';
import { webhookSigner } from '../../src/simulator/webhook_signer.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { onePolicy, oneRoute } from '../one_route.ts';

/** Runs cases on an edge; gives their mismatches, or the errors of the file. */
function mismatches(edge: object, value: object): string[] {
  const { config } = usable(checkWholeEdge({ value: edge }));
  const checked = checkScenario({ value: { edge: 'given', ...value }, name: 'x.ts' });
  const options = { ...ONCE, lines: true, signer: webhookSigner };
  const { cases, diagnostics } = runFile(
    checked,
    edgeFixture(config, () => null),
    options,
  );
  return [
    ...diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    ...cases.flatMap((ran) =>
      ran.mismatches.map(({ what, received }) => `${ran.name}: ${what}: ${received}`),
    ),
  ];
}

const SECRET = 'it is a secret';
const HOOK = oneRoute({ webhook_verification: { provider: 'github', secret: SECRET } });

describe('a signed webhook', () => {
  const hook = (sign: object, code: string) => ({
    name: code,
    request: { path: '/', json: { a: 1 }, sign: { provider: 'github', secret: SECRET, ...sign } },
    expect: { because: { module: 'webhook_verification', verdict: code } },
  });

  it('can be tampered with', () => {
    expect(mismatches(HOOK, { cases: [hook({}, 'pass')] })).toEqual([]);
    expect(mismatches(HOOK, { cases: [hook({ tamper: 'body' }, 'stop')] })).toEqual([]);
    expect(mismatches(HOOK, { cases: [hook({ tamper: 'signature' }, 'stop')] })).toEqual([]);
    expect(mismatches(HOOK, { cases: [hook({ tamper: 'bodi' }, 'stop')] })).toEqual([
      "'tamper' cannot be 'bodi'",
    ]);
  });

  it('can be old', () => {
    const stripe = oneRoute({ webhook_verification: { provider: 'stripe', secret: 'whsec_c2VjcmV0' } });
    const at = (ago: string, verdict: string) => ({
      name: ago,
      request: { path: '/', body: '{}', sign: { provider: 'stripe', secret: 'whsec_c2VjcmV0', ago } },
      expect: { because: { module: 'webhook_verification', verdict } },
    });
    expect(mismatches(stripe, { cases: [at('1s', 'pass'), at('1h', 'stop')] })).toEqual([]);
  });
});

const KEYS = 'https://issuer.test/keys';
const JWT = onePolicy({
  on_http_request: [
    {
      actions: [
        {
          type: 'jwt-validation',
          config: {
            issuer: { allow_list: [{ value: 'https://issuer.test' }] },
            http: { tokens: [{ type: 'jwt', method: 'header', name: 'authorization', prefix: 'Bearer ' }] },
            jws: { allowed_algorithms: ['RS256'], keys: { sources: { additional_jkus: [KEYS] } } },
          },
        },
      ],
    },
  ],
});

describe('a minted token', () => {
  const token = (name: string, jwt: object, status: number) => ({
    name,
    request: { path: '/', jwt: { claims: { iss: 'https://issuer.test', sub: 'ada' }, ...jwt } },
    expect: { status },
  });
  it('is signed with the key that `key_set` answers', () => {
    const cases = [
      token('good', {}, 200),
      token('expired', { expires_in: '-1h' }, 401),
      token('of another issuer', { claims: { iss: 'https://evil.test' } }, 401),
      token('tampered', { tamper: true }, 401),
      token('elsewhere', { header: 'x-token' }, 401),
    ];
    expect(mismatches(JWT, { upstreams: { [KEYS]: { key_set: true } }, cases })).toEqual([]);
  });
});

describe('upstreams', () => {
  const ask = (path: string, status: number, more: object = {}) => ({
    name: `${path} ${JSON.stringify(more)}`,
    request: { path, ...more },
    expect: { status },
  });

  it('answer by path and method', () => {
    const stubs = [
      { path: '/api/*', method: 'POST', status: 201 },
      { path: '/api/*', status: 202 },
      { path: '/exact', status: 203 },
    ];
    const cases = [
      ask('/api/x', 201, { method: 'POST' }),
      ask('/api/x?y=1', 202),
      ask('/exact', 203),
      ask('/exact/not', 204),
    ];
    expect(mismatches(oneRoute(), { upstreams: { app: { status: 204, stubs } }, cases })).toEqual([]);
  });

  it('answer with a probability', () => {
    const timeline = [
      {
        at: '0s',
        send: { path: '/', count: 1_000 },
        expect: { counts: { 500: { at_least: 250, at_most: 350 }, 200: { at_least: 650, at_most: 750 } } },
      },
    ];
    const upstreams = { app: { stubs: [{ chance: 0.3, status: 500 }] } };
    expect(mismatches(oneRoute(), { upstreams, cases: [{ name: 'some fail', timeline }] })).toEqual([]);
    expect(
      mismatches(oneRoute(), { upstreams: { app: { stubs: [{ chance: 2 }] } }, cases: [ask('/', 200)] }),
    ).not.toEqual([]);
  });

  it('take longer under load: requests above `workers` wait for one that is free', () => {
    const burst = (at: string, count: number, most: number) => ({
      at,
      send: { path: '/', count },
      expect: { duration: { at_least: 100, at_most: most } },
    });
    const upstreams = { app: { latency: '100ms', workers: 2 } };
    const calm = [burst('0s', 2, 100), burst('1s', 2, 100)];
    expect(mismatches(oneRoute(), { upstreams, cases: [{ name: 'calm', timeline: calm }] })).toEqual([]);
    const busy = [burst('0s', 5, 300)];
    expect(mismatches(oneRoute(), { upstreams, cases: [{ name: 'busy', timeline: busy }] })).toEqual([]);
    const tooBusy = [burst('0s', 5, 200)];
    expect(mismatches(oneRoute(), { upstreams, cases: [{ name: 'busy', timeline: tooBusy }] })).toEqual([
      'busy: duration at 0 ms: 300',
    ]);
  });
});

describe('`variables`', () => {
  it('are filled in everywhere, and rows win over them', () => {
    const variables = { path: '/a', code: 204 };
    const upstreams = { app: { status: 204 } };
    const one = {
      name: 'of the file',
      request: { path: '{path}' },
      expect: { status: '{code}', upstream: { path: '/a' } },
    };
    const rows = {
      name: 'row',
      each: [{ path: '/b' }],
      request: { path: '{path}' },
      expect: { upstream: { path: '/b' } },
    };
    expect(mismatches(oneRoute(), { variables, upstreams, cases: [one, rows] })).toEqual([]);
  });
});
