import type { CompiledCase } from './compile_case.ts';
import { outcomeOf } from './expect/outcome.ts';
import { runCase } from './run_case.ts';
import { changesOf } from './search/changes.ts';
import { draftOf, preparedDraft } from './search/draft.ts';
import { poolsOfEdge } from './search/edge_pools.ts';
import type { EdgeUnderTest } from './under_test.ts';

/** Changes that are tried at most. */
const TRIES = 500;
/** What is not in the request: there the scenario has the say. */
const NOT_ASKED: ReadonlySet<string> = new Set(['upstreams', 'seed', 'before', 'startMs']);

/**
 * The smallest change of one field of the request after which every expectation holds, found by running it. It
 * tells which rule would have done what was expected. Null when no change that was tried does.
 */
export function nearMiss(compiled: CompiledCase, edge: EdgeUnderTest): string | null {
  const { plan } = compiled;
  if (plan.kind !== 'one') return null;
  const draft = draftOf(plan.request, {}, edge.config);
  if (draft === null) return null;
  const changes = changesOf(draft, poolsOfEdge(edge)).filter(({ field }) => !NOT_ASKED.has(field));
  for (const { says, draft: changed } of changes.slice(0, TRIES)) {
    const request = preparedDraft(changed);
    if (request === null) continue;
    const { variables } = changed;
    const facts = Object.keys(variables).length === 0 ? compiled.facts : [...compiled.facts, { variables }];
    const ran = runCase({ ...compiled, facts, plan: { ...plan, request } }, edge);
    if (ran.mismatches.length > 0 || ran.outcome === null) continue;
    const steps = outcomeOf(ran.outcome.flight).facts();
    const rule = steps.findLast((step) => step.rule !== undefined && step.phase === 'request');
    const by = rule === undefined ? '' : `: rule ${rule.rule}${inBrackets(rule.detail)} would do it`;
    return `${says} it would be as expected${by}`;
  }
  return null;
}

function inBrackets(detail: Readonly<Record<string, unknown>>): string {
  const facts = Object.entries(detail).filter(([name]) => name !== 'rule');
  return facts.length === 0
    ? ''
    : ` (${facts.map(([name, value]) => `${name} ${String(value)}`).join(', ')})`;
}
