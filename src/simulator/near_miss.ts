import type { CompiledCase } from './compile_case.ts';
import { outcomeOf } from './expect/outcome.ts';
import { runCase } from './run_case.ts';
import { changesOf } from './search/changes.ts';
import { readIdentities } from '../dev_idp/identities.ts';
import { draftOf, preparedDraft, writtenIdentity } from './search/draft.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import { recorder } from '../coverage/recorder.ts';
import { type Pools, poolsOf } from './search/pools.ts';
import { weakMemoize } from '../caches/weak_memoize.ts';

/** Maximum number of changes that are tried. */
const TRIES = 500;
/** Not part of the request: these are fixed by the scenario. */
const NOT_ASKED: ReadonlySet<string> = new Set(['upstreams', 'agents', 'seed', 'before', 'startMs']);

/**
 * The smallest change of one request field after which every expectation is met, found by running it. It shows which
 * rule would have done what was expected. Null if no such change was found.
 */
export function nearMiss(compiled: CompiledCase, edge: EdgeFixture): string | null {
  const { plan } = compiled;
  if (plan.kind !== 'one') return null;
  const visitor = compiled.identities?.find(({ key }) => key === plan.request.as);
  const as = visitor === undefined ? null : { name: visitor.key, facts: writtenIdentity(visitor) };
  const draft = draftOf(plan.request, { as }, edge.config);
  if (draft === null) return null;
  const changes = changesOf(draft, poolsOfEdge(edge)).filter(({ field }) => !NOT_ASKED.has(field));
  // With a login, the identity matters more than the path.
  const ordered = as === null ? changes : changes.toSorted((one, other) => rank(one) - rank(other));
  for (const { message, draft: changed } of ordered.slice(0, TRIES)) {
    const request = preparedDraft(changed);
    if (request === null) continue;
    const { variables } = changed;
    const facts = Object.keys(variables).length === 0 ? compiled.facts : [...compiled.facts, { variables }];
    const who = changed.as;
    const identities =
      who === null ? compiled.identities : readIdentities({ [who.name]: who.facts }).identities;
    const known = identities === undefined ? {} : { identities };
    const ran = runCase({ ...compiled, ...known, facts, plan: { ...plan, request } }, edge);
    if (ran.mismatches.length > 0 || ran.outcome === null) continue;
    const steps = outcomeOf(ran.outcome.simulated).facts();
    const rule = steps.findLast((step) => step.rule !== undefined && step.phase === 'request');
    const by = rule === undefined ? '' : `: rule ${rule.rule}${inBrackets(rule.detail)} would do it`;
    return `${message} the expectations would be met${by}`;
  }
  return null;
}

function rank({ field }: { readonly field: string }): number {
  return field === 'as' ? 0 : 1;
}

function inBrackets(detail: Readonly<Record<string, unknown>>): string {
  const facts = Object.entries(detail).filter(([name]) => name !== 'rule');
  return facts.length === 0
    ? ''
    : ` (${facts.map(([name, value]) => `${name} ${String(value)}`).join(', ')})`;
}

/** The values that are worth trying on an edge; collected once. */
const poolsOfEdge: (edge: EdgeFixture) => Pools = weakMemoize((edge) => {
  // Compiling reports every expression to the watcher.
  const watching = recorder();
  edge.unwatched().watched(watching).fresh();
  return poolsOf(edge.config, watching.expressions.values());
});
