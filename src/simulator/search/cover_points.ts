import { readMatch } from '../../edge/router.ts';
import { type CoveredEdge, openOf, triedEdge } from '../../coverage/coverage.ts';
import type { CoveragePoint } from '../../coverage/point.ts';
import { changesOf } from './changes.ts';
import type { Signer } from '../document/requests.ts';
import type { SimulatedRequest } from '../simulated_request.ts';
import { type Draft, connectDraft, factsOf, plainDraft } from './draft.ts';
import { openPoints } from './live.ts';
import { poolsOf } from './pools.ts';
import { type DraftRun, type RunDraft, draftRunner } from './run_draft.ts';

/** A request that covers points which no case covered, or has another result after a mistake. */
export interface FoundCase {
  readonly draft: Draft;
  /** Runs it again: thousands of runs would take much memory, and each has the same result. */
  readonly run: () => DraftRun;
  readonly points: readonly CoveragePoint[];
  /** A mistake in the configuration that no other case notices. */
  readonly notices?: string;
}

/** The requests of cases, one after the other, so that none has to last. */
export function* requestsOf(found: readonly FoundCase[]): Generator<SimulatedRequest> {
  for (const { run } of found) yield* run().simulatedRequests;
}

export interface SearchLimits {
  /** Maximum number of requests tried. Default 20,000. */
  readonly runs: number;
  /** Maximum number of fact sets that the edge is compiled for. Default 200. */
  readonly facts: number;
}

const DEFAULT_LIMITS: SearchLimits = { runs: 20_000, facts: 200 };
/** Maximum number of drafts that others are derived from. */
const CORPUS_LIMIT = 400;

/**
 * Searches for requests that cover what no case does: starting from the requests of the cases and a plain one
 * for each route, one field at a time is changed to a value from the configuration, or one next to it. A
 * request with a new effect becomes the start of further changes.
 */
export function findCases(
  covered: CoveredEdge,
  begin: readonly Draft[],
  limits: Partial<SearchLimits> & { readonly signer?: Signer | null } = {},
): FoundCase[] {
  const { runs: most, facts: mostFacts, signer = null } = { ...DEFAULT_LIMITS, ...limits };
  const uncovered = openOf(covered);
  if (uncovered.length === 0) return [];
  const { config } = covered.edge;
  const tried = triedEdge(covered);
  const run = draftRunner(tried.edge);
  const open = openPoints(uncovered, tried.recorder);
  const pools = poolsOf(covered.config, covered.recorder.expressions.values(), signer);
  const found: FoundCase[] = [];
  const corpus: Draft[] = [];
  const known = new Set<string>();
  const factsTried = new Set<string>();
  let runs = 0;

  const attempt = (draft: Draft): void => {
    const key = JSON.stringify(draft);
    const facts = JSON.stringify(factsOf(draft));
    if (known.has(key) || (factsTried.size >= mostFacts && !factsTried.has(facts))) return;
    known.add(key);
    factsTried.add(facts);
    runs += 1 + (draft.before?.count ?? 0);
    const ran = run(draft);
    if (ran.simulatedRequests.length === 0 && ran.connection === null) return;
    const { points, isNovel } = open.take(draft);
    if (points.length > 0) found.push(foundCase(draft, run, points));
    if ((points.length > 0 || isNovel) && corpus.length < CORPUS_LIMIT) corpus.push(draft);
  };

  const plain = covered.routes.flatMap(({ kind, route }) =>
    kind === 'https'
      ? [plainDraft(config, readMatch(route.match).path)]
      : hostportsOf(route).map((hostport) => connectDraft(config, kind, hostport)),
  );
  const roots = distinctDrafts([...plain, ...begin]);
  for (const draft of roots) attempt(draft);
  // Requests of cases are extended even without a new effect.
  const waiting = distinctDrafts([...roots, ...corpus]).slice(0, CORPUS_LIMIT);
  corpus.splice(0, corpus.length, ...waiting);
  const isDone = () => open.count() === 0 || runs >= most;
  for (let at = 0; at < corpus.length && !isDone(); at++) {
    for (const { draft } of changesOf(corpus[at]!, pools)) {
      attempt(draft);
      if (isDone()) break;
    }
  }
  return found;
}

/** A case that was found. It is made here, because a closure of the search would keep all of its data. */
export function foundCase(draft: Draft, run: RunDraft, points: readonly CoveragePoint[]): FoundCase {
  return { draft, run: () => run(draft), points };
}

/** Hostports of a TLS or TCP edge. */
function hostportsOf(route: object): readonly string[] {
  return (route as { readonly hostports: readonly string[] }).hostports;
}

function distinctDrafts(drafts: readonly Draft[]): Draft[] {
  return [...new Map(drafts.map((draft) => [JSON.stringify(draft), draft])).values()];
}
