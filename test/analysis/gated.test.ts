import { expect, test } from 'vitest';
import { certifyProperty } from '../../src/analysis/certify.ts';
import { Analysis, Model } from '../../src/analysis/model.ts';
import { prove } from '../../src/analysis/prove.ts';
import { type Observed, isTrueFor, observe } from '../../src/analysis/witness.ts';
import { compile } from '../../src/cel/program.ts';
import { BOOL } from '../../src/cel/types.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { scopeFor } from '../../src/policy/env/scopes.ts';
import { Refused, hashOf, verify } from '../../src/proof/verify.ts';
import { IS_FULL, runs, seeded } from '../random.ts';
import { type Chance, chanceOf, randomEdge, randomRequest, randomRule } from './random_edges.ts';

const REQUESTS = IS_FULL ? 60 : 20;

/** An action that may be a gate, or only look like one. */
function gate({ pick, real }: Chance): { readonly type: string; readonly config: object } {
  const enforce = real() < 0.6;
  return pick([
    { type: 'basic-auth', config: { credentials: ['ann:password1'], enforce } },
    { type: 'restrict-ips', config: { allow: pick([['10.0.0.0/8'], ['0.0.0.0/0', '::/0']]), enforce } },
    { type: 'verify-webhook', config: { provider: 'github', secret: 'a webhook secret', enforce } },
    {
      type: 'http-request',
      config: { url: 'https://auth.test/check', on_error: pick(['halt', 'continue']) },
    },
    { type: 'oauth', config: { provider: 'google', allow_cors_preflight: enforce } },
    {
      type: 'rate-limit',
      config: {
        name: 'n',
        algorithm: 'sliding_window',
        capacity: 1,
        rate: '60s',
        bucket_key: ['conn.client_ip'],
        enforce,
      },
    },
  ]);
}

const PREFLIGHT = { origin: 'https://a.test', 'access-control-request-method': 'GET' };

function policy(chance: Chance) {
  const { pick, real } = chance;
  const own = gate(chance);
  const expressions = real() < 0.6 ? [] : randomRule(chance).expressions;
  const before = pick([
    [],
    [{ expressions: [], actions: [{ type: 'add-headers', config: { headers: PREFLIGHT } }] }],
    [{ expressions: [], actions: [{ type: 'remove-headers', config: { headers: ['origin'] } }] }],
    [randomRule(chance)],
  ]);
  const rule = { expressions, actions: [own] };
  const onResponse = own.type === 'restrict-ips' && real() < 0.2;
  return {
    type: own.type,
    edge: onResponse ? randomEdge(before, [rule]) : randomEdge([...before, rule]),
  };
}

function request(chance: Chance) {
  const plain = randomRequest(chance);
  const headers = [...plain.headers];
  if (chance.real() < 0.4) headers.push(['authorization', `Basic ${btoa('ann:password1')}`]);
  if (chance.real() < 0.3) headers.push(...Object.entries(PREFLIGHT));
  return { ...plain, headers, url: plain.url.replace(/\/\/[^/]+/, '//a.test') };
}

/** Whether the trace of the engine shows that an action was passed before the request was forwarded. */
function hasPassed({ explanation: { steps } }: Observed, type: string): boolean {
  return steps
    .filter(({ phase }) => phase === 'request')
    .flatMap(({ inner = [] }) => inner)
    .some(
      ({ name, code, detail }) =>
        name === type && detail['enforced'] !== false && !/\.(?:failed|options_passed)$/.test(code),
    );
}

test('no request that is tried gets around a gate that is proved', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(12));
  const counts = { PROVED: 0, REFUTED: 0, UNDECIDED: 0, INVALID: 0, verified: 0, forwarded: 0 };
  for (let round = 0; round < runs(120, 6); round++) {
    const { type, edge } = policy(chance);
    const { config } = createEdge(edge);
    const where = chance.real() < 0.5 ? 'true' : (randomRule(chance).expressions[0] ?? 'true');
    const property = {
      name: 'gated',
      where,
      never: { end: 'forwarded', backend: 'app', without: [type] },
    } as const;
    const { verdict } = prove(config, property);
    counts[verdict]++;
    const isAccepted = isVerified(config, property);
    if (verdict !== 'PROVED' && !isAccepted) continue;
    expect([verdict, edge]).not.toEqual(['REFUTED', edge]);
    if (isAccepted) counts.verified++;
    const model = new Model(config, new Analysis());
    const { program } = compile(where, scopeFor('on_http_request', { service: 'service' }), { wants: BOOL });
    for (let each = 0; each < REQUESTS; each++) {
      const sent = request(chance);
      const observed = observe(model, sent);
      if (observed?.backend !== 'app' || !isTrueFor(model, program!, sent)) continue;
      counts.forwarded++;
      expect([sent, edge, hasPassed(observed, type)]).toEqual([sent, edge, true]);
    }
  }
  expect(counts.INVALID).toBe(0);
  for (const count of [counts.PROVED, counts.REFUTED, counts.verified + counts.forwarded])
    expect(count).toBeGreaterThan(0);
});

/** Whether the checker accepts a certificate, whatever the analysis says. */
function isVerified(
  config: ReturnType<typeof createEdge>['config'],
  property: Parameters<typeof prove>[1],
): boolean {
  try {
    verify(certifyProperty(config, property, [hashOf(config)]), [config]);
    return true;
  } catch (error) {
    if (error instanceof Refused || (error instanceof Error && error.name === 'NotCertified')) return false;
    throw error;
  }
}
