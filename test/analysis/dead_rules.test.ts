import { expect, test } from 'vitest';
import { findings } from '../../src/analysis/findings.ts';
import { Analysis, Model } from '../../src/analysis/model.ts';
import { type Observed, observe } from '../../src/analysis/witness.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { runs, seeded } from '../random.ts';
import { type RandomRule, chanceOf, randomEdge, randomRequest, randomRule } from './random_edges.ts';

const REQUESTS = 150;
const POLICY = '/edges/https/main/routes/0/traffic_policy/value/on_http_request';

/** Rules that read what those before them did to headers and variables, and whether they ran. */
const AFTERWARDS = [
  "hasReqHeader('x-team')",
  "!hasReqHeader('X-Team')",
  "'x-edge' in req.headers",
  "getReqHeader('x-edge').exists(v, v == 'blue')",
  "size(getReqHeader('x-edge')) == 0",
  "getReqHeader('x-team').all(v, v == 'red')",
  "req.headers['x-edge'][0] == 'red'",
  'has(actions.service.add_headers)',
  'has(actions.service.add_headers.headers_added)',
  '!has(actions.service.remove_headers)',
  "actions.service.restrict_ips.action == 'allow'",
  "has(vars.lane) && vars.lane == 'beta'",
];

/** Whether an action of a rule has a step. */
function hasRun({ explanation: { steps } }: Observed, rule: string): boolean {
  return steps.some(({ inner = [] }) => inner.some(({ pointer }) => pointer.startsWith(`${rule}/actions/`)));
}

test(
  'no request that is tried runs a rule that is called dead, or differs without it',
  {
    timeout: 600_000,
  },
  () => {
    const chance = chanceOf(seeded(31));
    const counts = { dead: 0, removed: 0, ran: 0 };
    for (let round = 0; round < runs(400, 6); round++) {
      const rules = Array.from({ length: 2 + Math.floor(chance.real() * 4) }, (): RandomRule => {
        const rule = randomRule(chance);
        const expressions = [chance.pick(AFTERWARDS), ...rule.expressions.slice(0, 1)];
        return chance.real() < 0.5 ? { ...rule, expressions } : rule;
      });
      const { config } = createEdge(randomEdge(rules));
      const model = new Model(config, new Analysis());
      const dead = findings(config).filter(({ code }) => code === 'analysis.dead_rule');
      counts.dead += dead.length;
      const others = dead
        .filter(({ isRemovable }) => isRemovable)
        .map(({ pointer }) => {
          const at = Number(pointer.slice(POLICY.length + 1));
          counts.removed++;
          return new Model(createEdge(randomEdge(rules.toSpliced(at, 1))).config, new Analysis());
        });
      for (let each = 0; each < REQUESTS; each++) {
        const request = randomRequest(chance);
        const observed = observe(model, request);
        if (observed === null) continue;
        if (hasRun(observed, POLICY + '/0')) counts.ran++;
        for (const { pointer } of dead)
          expect([request, rules, pointer, hasRun(observed, pointer)]).toEqual([
            request,
            rules,
            pointer,
            false,
          ]);
        for (const other of others)
          expect([request, rules, observe(other, request)!.seen]).toEqual([request, rules, observed.seen]);
      }
    }
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  },
);
