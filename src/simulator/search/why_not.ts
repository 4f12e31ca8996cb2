import { type CoveredEdge, triedEdge } from '../covering/coverage.ts';
import type { Signer } from '../document/requests.ts';
import { type Change, changesOf } from './changes.ts';
import { type Draft, factsOf } from './draft.ts';
import { poolsOf } from './pools.ts';
import { type DraftRun, draftRunner } from './run_draft.ts';
import { type CameAbout, type Target, cameOf, cameOfConnection } from './target.ts';

/** What would have to differ for something to happen. */
export type WhyNot =
  /** It happens. */
  | { readonly verdict: 'already' }
  /** No request makes it happen. */
  | { readonly verdict: 'impossible'; readonly says: string }
  /** With these changes it happens: the fewest that were found, and run. */
  | {
      readonly verdict: 'changes';
      readonly changes: readonly string[];
      readonly draft: Draft;
      readonly run: DraftRun;
    }
  | { readonly verdict: 'not_found'; readonly runs: number };

/** How a search is done. */
export interface WhyNotOptions {
  /** Requests that are tried at most; default 20,000. */
  readonly runLimit?: number;
  /** Signs webhooks; without one no signature is tried. */
  readonly signer?: Signer | null;
}

const RUN_LIMIT = 20_000;
const FACT_LIMIT = 200;
/** Fields that are changed together at most. */
const DEPTH_LIMIT = 4;

interface Tried {
  readonly draft: Draft;
  readonly steps: readonly Change[];
}

/**
 * Looks for the smallest change of a request after which a target is met: one field first, then two, then more where
 * a change has made something happen that had not happened before. What is found is run again with each change taken
 * back, so that none of them is idle.
 */
export function whyNot(
  covered: CoveredEdge,
  draft: Draft,
  target: Target,
  { runLimit = RUN_LIMIT, signer = null }: WhyNotOptions = {},
): WhyNot {
  const tried = triedEdge(covered);
  const run = draftRunner(tried.edge);
  const met = (each: Draft): DraftRun | null => {
    const ran = run(each);
    return comesAbout(each, ran).some((came) => target.isMet(came)) ? ran : null;
  };
  if (met(draft) !== null) return { verdict: 'already' };
  if (target.impossible !== null) return { verdict: 'impossible', says: target.impossible };
  const pools = poolsOf(covered.edge.config, covered.recorder.expressions.values(), signer);
  const known = new Set<string>();
  const facts = new Set<string>();
  let runs = 0;
  let level: readonly Tried[] = [{ draft, steps: [] }];
  for (let depth = 0; depth < DEPTH_LIMIT && level.length > 0; depth++) {
    const leading: Tried[] = [];
    const others: Tried[] = [];
    for (const from of level) {
      for (const change of changesOf(from.draft, pools)) {
        if (from.steps.some(({ field }) => field === change.field)) continue;
        const key = JSON.stringify(change.draft);
        const ownFacts = JSON.stringify(factsOf(change.draft));
        if (known.has(key) || (facts.size >= FACT_LIMIT && !facts.has(ownFacts))) continue;
        if (++runs > runLimit) return { verdict: 'not_found', runs };
        known.add(key);
        facts.add(ownFacts);
        const before = tried.recorder.novelty();
        const steps = [...from.steps, change];
        if (met(change.draft) !== null) return smallest(draft, steps, met);
        const next = { draft: change.draft, steps };
        if (tried.recorder.novelty() > before) leading.push(next);
        else others.push(next);
      }
    }
    // Pairs are tried of everything; beyond that only what led somewhere is worth the time.
    level = depth === 0 ? [...leading, ...others] : leading;
  }
  return { verdict: 'not_found', runs };
}

/** Takes back each change that is not needed. */
function smallest(base: Draft, steps: readonly Change[], met: (draft: Draft) => DraftRun | null): WhyNot {
  let kept = steps;
  for (const step of steps) {
    const rest = kept.filter((each) => each !== step);
    if (rest.length > 0 && met(applied(base, rest)) !== null) kept = rest;
  }
  const draft = kept === steps ? steps.at(-1)!.draft : applied(base, kept);
  return { verdict: 'changes', changes: kept.map(({ says }) => says), draft, run: met(draft)! };
}

/** What is looked at: the request that matters, the way through its login with it, or the connection. */
function comesAbout({ as, before, connect }: Draft, { flights, connection }: DraftRun): CameAbout[] {
  if (connection !== null) return [cameOfConnection(connection, `${connect!.host}:${connect!.port}`)];
  const last = as === null || before !== null ? flights.slice(-1) : flights;
  return last.map((flight) => cameOf(flight));
}

/** A request with only some of the changes: each of them again, on what it was made from. */
function applied(base: Draft, steps: readonly Change[]): Draft {
  return steps.reduce((draft, { again }) => again(draft), base);
}
