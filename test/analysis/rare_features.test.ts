import { expect, test } from 'vitest';
import { certifyProperty } from '../../src/analysis/certify.ts';
import { configMutants } from '../../src/analysis/config_mutants.ts';
import { compare } from '../../src/analysis/diff.ts';
import { findings } from '../../src/analysis/findings.ts';
import { Analysis, Model } from '../../src/analysis/model.ts';
import { type Property, prove } from '../../src/analysis/prove.ts';
import { type Observed, isTrueFor, observe } from '../../src/analysis/witness.ts';
import { compile } from '../../src/cel/program.ts';
import { BOOL } from '../../src/cel/types.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { scopeFor } from '../../src/policy/env/scopes.ts';
import { hashOf, verify } from '../../src/proof/verify.ts';
import { IS_FULL, runs, seeded } from '../random.ts';
import { ended } from './classify.ts';
import { type Chance, chanceOf } from './random_edges.ts';
import { rareEdge, rareExpression, rareRequest } from './rare_edges.ts';

/** What is proved of edges with rare combinations of features holds for every request that is tried. */

const REQUESTS = IS_FULL ? 50 : 20;

/** The next file that the check accepts. */
function nextConfig(chance: Chance): EdgeConfig {
  for (;;) {
    try {
      return createEdge(rareEdge(chance)).config;
    } catch (error) {
      expect(error).toMatchObject({ name: 'ConfigError' });
    }
  }
}

const requestsOf = (chance: Chance) => Array.from({ length: REQUESTS }, () => rareRequest(chance));
const isStopped = ({ explanation: { decidedBy } }: Observed): boolean => decidedBy.verdict === 'stop';

test('the outcome of the class is that of the engine', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(41));
  let decided = 0;
  for (let round = 0; round < runs(240, 10); round++) {
    const config = nextConfig(chance);
    const model = new Model(config, new Analysis());
    for (const request of requestsOf(chance)) {
      const host = new URL(request.url).hostname;
      const outcome = host.endsWith('.internal') ? null : ended(model, request);
      const observed = outcome === null ? null : observe(model, request);
      if (outcome === null || observed === null || outcome.by === 'forward-internal') continue;
      decided++;
      const mayFail = outcome.effects.some((effect) => effect.mayFail);
      if (isStopped(observed) && mayFail && observed.explanation.decidedBy.code === 'traffic_policy.failed')
        continue;
      const expected = outcome.end !== 'forwarded' || outcome.by === '';
      expect([request, config, isStopped(observed)]).toEqual([request, config, expected]);
    }
  }
  expect(decided).toBeGreaterThan(IS_FULL ? 100 : 50);
});

test('what is called equivalent looks alike', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(42));
  let equivalent = 0;
  for (let round = 0; round < runs(600, 25); round++) {
    const config = nextConfig(chance);
    const { config: changed } = chance.pick([...configMutants(config)]);
    const other = accepted(changed);
    if (other === null || compare({ config }, { config: other }).verdict !== 'equivalent') continue;
    equivalent++;
    const models = [config, other].map((each) => new Model(each, new Analysis()));
    for (const request of requestsOf(chance)) {
      const [one, two] = models.map((model) => observe(model, request)?.seen);
      // Logins draw their own random values.
      if (one?.includes('accounts.google') === true) continue;
      expect([request, config, two]).toEqual([request, config, one]);
    }
  }
  expect(equivalent).toBeGreaterThan(0);
});

function accepted(changed: unknown): EdgeConfig | null {
  try {
    return createEdge(changed).config;
  } catch {
    return null;
  }
}

const UNROUTED = new Set<string>(['route.unknown_host', 'route.no_match', 'route.ambiguous_path']);
const GATES = ['basic-auth', 'login', 'restrict-ips', 'rate-limit', 'http-request', 'verify-webhook'];

test('what is proved holds', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(43));
  const { pick, real } = chance;
  let [proved, verified] = [0, 0];
  for (let round = 0; round < runs(1_500, 30); round++) {
    const config = nextConfig(chance);
    const where = real() < 0.7 ? rareExpression(chance) : 'true';
    const scope = scopeFor('on_http_request', { service: 'service' });
    const { program } = compile(where, scope, { wants: BOOL });
    if (program === undefined) continue;
    const end = pick(['forwarded', 'forwarded', 'stopped', 'blocked'] as const);
    const never = {
      end,
      ...(end === 'forwarded' && real() < 0.6 && { backend: pick(['app', 'ops']) }),
      ...(real() < 0.4 && { without: [pick(GATES)] }),
    };
    const property = { name: 'x', where, never };
    const isProved = prove(config, property).verdict === 'PROVED';
    const isShown = isVerified(config, property);
    if (!isProved && !isShown) continue;
    if (isProved) proved++;
    if (isShown) verified++;
    const model = new Model(config, new Analysis());
    for (const request of requestsOf(chance)) {
      const observed = isTrueFor(model, program, request) ? observe(model, request) : null;
      if (observed === null || hasPassed(observed, never.without?.[0])) continue;
      expect([request, config, where, never, breaks(observed, never)]).toEqual([
        request,
        config,
        where,
        never,
        false,
      ]);
    }
  }
  expect([proved > (IS_FULL ? 4 : 2), verified > 0]).toEqual([true, true]);
});

/** Whether the checker accepts a certificate, whatever the analysis says. */
function isVerified(config: EdgeConfig, property: Property): boolean {
  try {
    verify(certifyProperty(config, property, [hashOf(config)]), [config]);
    return true;
  } catch {
    return false;
  }
}

/** Whether a request has the outcome, as far as the response and the upstream requests show it. */
function breaks(observed: Observed, { end, backend }: { end: string; backend?: string }): boolean {
  const { status, looks, explanation } = observed;
  const { code } = explanation.decidedBy;
  if (end === 'forwarded')
    return looks.forwarded.some(({ endpoint }) => backend === undefined || endpoint.id === backend);
  // A property is about the hosts of the file.
  if (code === 'route.unknown_host' || !isStopped(observed)) return false;
  return end === 'stopped' || (status >= 400 && !UNROUTED.has(code));
}

/** Whether the trace says that a request passed a module or an action. */
function hasPassed({ explanation: { steps } }: Observed, gate: string | undefined): boolean {
  const before = steps.filter(({ phase }) => phase !== 'response');
  const modules = before.map(({ module: name, code, detail }) => ({ name, code, detail }));
  const inner = before.flatMap((step) => step.inner ?? []);
  return [...modules, ...inner].some(
    ({ name, code, detail }) =>
      (name === gate || (gate === 'login' && name === 'oauth')) &&
      detail['enforced'] !== false &&
      !/\.(?:failed|options_passed)$/.test(code),
  );
}

test('no request reaches the actions of a dead rule', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(44));
  let dead = 0;
  for (let round = 0; round < runs(400, 15); round++) {
    const config = nextConfig(chance);
    const pointers = findings(config).flatMap(({ code, pointer }) =>
      code === 'analysis.dead_rule' ? [`${pointer}/actions/`] : [],
    );
    if (pointers.length === 0) continue;
    dead++;
    const model = new Model(config, new Analysis());
    for (const request of requestsOf(chance)) {
      const steps = observe(model, request)?.explanation.steps ?? [];
      const reached = steps.flatMap(({ inner = [] }) => inner.map(({ pointer }) => pointer));
      const wrong = reached.filter((each) => pointers.some((pointer) => each.startsWith(pointer)));
      expect([request, config, wrong]).toEqual([request, config, []]);
    }
  }
  expect(dead).toBeGreaterThan(0);
});
