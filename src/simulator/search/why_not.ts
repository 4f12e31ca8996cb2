import { type CoveredEdge, triedEdge } from '../../coverage/coverage.ts';
import { isNovel } from '../../coverage/recorder.ts';
import type { Signer } from '../document/requests.ts';
import { type Change, changesOf } from './changes.ts';
import { type Draft, factsOf } from './draft.ts';
import { exactChanges } from './exact.ts';
import { poolsOf } from './pools.ts';
import { type DraftRun, draftRunner } from './run_draft.ts';
import { type ObservedResult, type Target, resultOf, resultOfConnection } from './target.ts';

/** The changes that are required for something to happen. */
export type WhyNot =
  /** It already happens. */
  | { readonly verdict: 'already' }
  /** It cannot happen for any request. */
  | { readonly verdict: 'impossible'; readonly message: string }
  /** It happens with these changes: the smallest set that was found and verified by a run. */
  | {
      readonly verdict: 'changes';
      readonly changes: readonly string[];
      /** Whether it is proved that no request with fewer changed fields will do. */
      readonly isFewest: boolean;
      readonly draft: Draft;
      readonly run: DraftRun;
    }
  | { readonly verdict: 'not_found'; readonly runs: number };

/** Options of a search. */
export interface WhyNotOptions {
  /** Maximum number of requests tried; default 20,000. */
  readonly runLimit?: number;
  /** Signs webhooks; without it no signatures are tried. */
  readonly signer?: Signer | null;
}

const RUN_LIMIT = 20_000;
const FACT_LIMIT = 200;
/** Maximum number of fields changed together. */
const DEPTH_LIMIT = 4;

interface Tried {
  readonly draft: Draft;
  readonly steps: readonly Change[];
}

/**
 * The smallest change of a request after which a target is met. Where only the request decides, it is computed, and run.
 * Otherwise it is searched for: first one field, then two, then more where a change had a new effect. The result is run
 * again with each change undone, so that none is redundant.
 */
export function whyNot(
  covered: CoveredEdge,
  draft: Draft,
  target: Target,
  { runLimit = RUN_LIMIT, signer = null }: WhyNotOptions = {},
): WhyNot {
  const tried = triedEdge(covered);
  const metBy = (run: (each: Draft) => DraftRun) => (each: Draft) => {
    const ran = run(each);
    return evaluatedResult(each, ran).some((came) => target.isMet(came)) ? ran : null;
  };
  const met = metBy(draftRunner(tried.edge));
  if (met(draft) !== null) return { verdict: 'already' };
  if (target.impossible !== null) return { verdict: 'impossible', message: target.impossible };
  const { sets, fewest } = exactChanges(covered, draft, draft.connect === null ? target.parts : []);
  // The search goes by what is new to its recorder.
  const metApart = metBy(draftRunner(triedEdge(covered).edge));
  const nearest = sets.find((each) => metApart(applied(draft, each)) !== null);
  const computed = nearest === undefined ? null : smallest(draft, nearest, metApart, fewest);
  if (computed !== null && computed.isFewest) return computed;
  const most = computed === null ? Infinity : computed.changes.length - 1;
  const pools = poolsOf(covered.config, covered.recorder.expressions.values(), signer);
  const known = new Set<string>();
  const facts = new Set<string>();
  let runs = 0;
  let level: readonly Tried[] = [{ draft, steps: [] }];
  for (let depth = 0; depth < Math.min(DEPTH_LIMIT, most) && level.length > 0; depth++) {
    const leading: Tried[] = [];
    const others: Tried[] = [];
    for (const from of level) {
      for (const change of changesOf(from.draft, pools)) {
        if (from.steps.some(({ field }) => field === change.field)) continue;
        const key = JSON.stringify(change.draft);
        const ownFacts = JSON.stringify(factsOf(change.draft));
        if (known.has(key) || (facts.size >= FACT_LIMIT && !facts.has(ownFacts))) continue;
        if (++runs > runLimit) return computed ?? { verdict: 'not_found', runs };
        known.add(key);
        facts.add(ownFacts);
        tried.recorder.takeNews();
        const steps = [...from.steps, change];
        if (met(change.draft) !== null) return smallest(draft, steps, met, fewest);
        const next = { draft: change.draft, steps };
        if (isNovel(tried.recorder.takeNews())) leading.push(next);
        else others.push(next);
      }
    }
    // Pairs are tried for all changes; larger sets only for changes with an effect.
    level = depth === 0 ? [...leading, ...others] : leading;
  }
  return computed ?? { verdict: 'not_found', runs };
}

type Changes = Extract<WhyNot, { readonly verdict: 'changes' }>;

/** Undoes each change that is not required. */
function smallest(
  base: Draft,
  steps: readonly Change[],
  met: (draft: Draft) => DraftRun | null,
  fewest: number | null,
): Changes {
  let kept = steps;
  for (const step of steps) {
    const rest = kept.filter((each) => each !== step);
    if (rest.length > 0 && met(applied(base, rest)) !== null) kept = rest;
  }
  const draft = applied(base, kept);
  return {
    verdict: 'changes',
    changes: kept.map(({ message }) => message),
    isFewest: kept.length === 1 || (fewest !== null && kept.length <= fewest),
    draft,
    run: met(draft)!,
  };
}

/** The evaluated part: the final request, the login around it, or the connection. */
function evaluatedResult(
  { as, before, connect }: Draft,
  { simulatedRequests, connection }: DraftRun,
): ObservedResult[] {
  if (connection !== null) return [resultOfConnection(connection, `${connect!.host}:${connect!.port}`)];
  const last = as === null || before !== null ? simulatedRequests.slice(-1) : simulatedRequests;
  return last.map((simulated) => resultOf(simulated));
}

/** A request with a subset of the changes, applied again to the original. */
function applied(base: Draft, steps: readonly Change[]): Draft {
  return steps.reduce((draft, { again }) => again(draft), base);
}
