import { type Mutant, configMutants } from '../../analysis/config_mutants.ts';
import type { CoveredEdge } from '../../coverage/coverage.ts';
import { type EdgeFixture, edgeFixture } from '../../coverage/edge_fixture.ts';
import type { PlacedRoute } from '../../coverage/placed_routes.ts';
import type { WatchedExpression } from '../../coverage/expressions.ts';
import { recorder } from '../../coverage/recorder.ts';
import { validationCache } from '../../edge/document/validation_cache.ts';
import { withoutFiles } from '../../edge/document/without_files.ts';
import { checkWholeEdge } from '../../edge/semantic_checks.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { Signer } from '../document/requests.ts';
import { outcomeOf } from '../expect/outcome.ts';
import { type EditedNames, editedNames } from './assertions.ts';
import { type RoutedDraft, mayAffect, onlyRoute, routeOf, routesTaken } from './change_scope.ts';
import { type Change, changesOf } from './changes.ts';
import { type FoundCase, requestsOf } from './cover_points.ts';
import type { Draft } from './draft.ts';
import { type Pools, poolsOf } from './pools.ts';
import { type DraftRun, type RunDraft, draftRunner } from './run_draft.ts';
import { type WrittenCase, writtenCase } from './write_case.ts';

interface Limits {
  /** Maximum number of requests tried for one mistake, besides those of the cases. */
  readonly runs: number;
  /** Maximum number of mistakes. */
  readonly mistakes: number;
}

const LIMITS: Limits = { runs: 400, mistakes: 1_500 };

/**
 * Further cases, so that the suite fails after mistakes in the configuration (`analysis/config_mutants.ts`). For each
 * mistake that no found case notices, requests near those and near `begin`, whose assertions are unknown, are sent to both configurations until their results
 * differ. A mistake without a difference may mean the same.
 */
export function noticingCases(
  covered: CoveredEdge,
  found: readonly FoundCase[],
  begin: readonly Draft[],
  { signer = null, limits = LIMITS }: { readonly signer?: Signer | null; readonly limits?: Limits } = {},
): FoundCase[] {
  const accepted = covered.edge.config;
  const cache = validationCache(accepted);
  const checked = checkWholeEdge({ value: withoutFiles(accepted) }, { cache, places: false });
  const config = checked.config ?? accepted;
  const names = editedNames(config, requestsOf(found));
  const edge = covered.edge.unwatched();
  const original = memory(draftRunner(edge), names, limits.runs);
  const known = [
    ...found.map(({ draft, run }) => witnessOf(draft, run(), original, true)),
    ...begin.map((draft) => witnessOf(draft, original.run(draft), original, false)),
  ];
  const more: FoundCase[] = [];
  const routes = new Map(covered.routes.map((route) => [route.pointer, route]));
  const usualPools = poolsByRoute(config, covered.recorder.expressions.values(), signer);
  let mistakes = 0;
  for (const mutant of configMutants(config)) {
    if (++mistakes > limits.mistakes) break;
    // Null for a mistake that the check finds.
    const { config: changed } = checkWholeEdge({ value: mutant.config }, { cache, places: false });
    if (changed === null) continue;
    const draft = noticingDraft(changed, mutant, {
      routes,
      original,
      usualPools,
      known,
      names,
      signer,
      edge,
      runs: limits.runs,
    });
    if (draft === null) continue;
    more.push({ draft, run: () => original.run(draft), points: [], notices: mutant.message });
    known.push(witnessOf(draft, original.run(draft), original, true));
  }
  return more;
}

/** A request, and where it leaves traces in the configuration. */
interface Witness extends RoutedDraft {
  /** Whether a case asserts its result. */
  readonly isAsserted: boolean;
  readonly pointers: readonly string[];
}

function witnessOf(draft: Draft, run: DraftRun, original: Memory, isAsserted: boolean): Witness {
  original.keep(draft, run);
  const last = run.simulatedRequests.at(-1);
  const facts = run.connection?.facts() ?? (last === undefined ? [] : outcomeOf(last).facts());
  return {
    draft,
    isAsserted,
    routes: routesTaken(run),
    pointers: facts.flatMap(({ pointer }) => pointer ?? []),
    isLogin: facts.some(({ code }) => LOGIN.test(code)),
  };
}

const LOGIN = /^(?:oauth|oidc|saml|openid_connect)\./;

interface Search {
  /** By pointer. */
  readonly routes: ReadonlyMap<string, PlacedRoute>;
  readonly original: Memory;
  readonly usualPools: (route: PlacedRoute | null) => Pools;
  readonly known: readonly Witness[];
  readonly names: EditedNames;
  readonly signer: Signer | null;
  /** Of the original configuration. */
  readonly edge: EdgeFixture;
  readonly runs: number;
}

/** A request whose result differs after the mistake; null if a case has one already, or none is found. */
function noticingDraft(changed: EdgeConfig, mutant: Mutant, search: Search): Draft | null {
  const { routes, original, usualPools, known, names, signer, edge } = search;
  const route = routeOf(mutant.pointer, routes);
  const near = known
    .filter(mayAffect(mutant.pointer, route, { routes, changed }))
    .map((witness) => ({ witness, nearness: nearnessTo(mutant.pointer, witness) }))
    .sort((one, other) => other.nearness - one.nearness)
    .map(({ witness }) => witness);
  const run = draftRunner(edge.edited(changed));
  const differs = (draft: Draft): boolean =>
    !holds(original.result(draft), resultOf(draft, run(draft), names));
  if (near.some(({ draft, isAsserted }) => isAsserted && differs(draft))) return null;
  const usual = usualPools(route);
  const pools = poolsIn(route === null ? changed : onlyRoute(changed, route), signer);
  // A login takes as long as hundreds of other requests, so a route with nothing else gets requests of other routes.
  const withoutLogin = near.filter(({ isLogin }) => !isLogin);
  const others = withoutLogin.length > 0 ? [] : known.filter(({ isLogin }) => !isLogin);
  const bases = [...withoutLogin, ...others].slice(0, BASES).map(({ draft }) => draft);
  // Values that only the changed configuration has come first.
  const neighbours = bases.map((base) => original.near(base, usual));
  const own = bases.flatMap((base, at) => {
    const { keys } = neighbours[at]!;
    return changesOf(base, pools).flatMap(({ draft }) => (keys.has(changedKey(draft, base)) ? [] : [draft]));
  });
  const tried = [...bases, ...own, ...neighbours.flatMap(({ drafts }) => drafts)];
  return tried.slice(0, search.runs).find(differs) ?? null;
}

/**
 * The values of the original configuration to try: for a change inside a route only those of that route, or most of the
 * requests tried would be for other routes. Only the last route is remembered: changes in one route follow each other.
 */
function poolsByRoute(
  config: EdgeConfig,
  expressions: Iterable<WatchedExpression>,
  signer: Signer | null,
): (route: PlacedRoute | null) => Pools {
  const whole = poolsOf(config, expressions, signer);
  let last: { readonly route: PlacedRoute; readonly pools: Pools } | null = null;
  return (route) => {
    if (route === null) return whole;
    if (last?.route !== route) last = { route, pools: poolsIn(onlyRoute(config, route), signer) };
    return last.pools;
  };
}

/** The values in a configuration and its expressions, which are known after it was compiled. */
function poolsIn(config: EdgeConfig, signer: Signer | null): Pools {
  const watching = recorder();
  edgeFixture(config, () => null)
    .watched(watching)
    .fresh();
  return poolsOf(config, watching.expressions.values(), signer);
}

/** Maximum number of cases whose neighbours are tried. */
const BASES = 6;

/** Length of the longest place of a case that contains the change. */
function nearnessTo(pointer: string, { draft, pointers }: Witness): number {
  const lengths = pointers.map((own) => (pointer === own || pointer.startsWith(`${own}/`) ? own.length : 0));
  // Logins take long.
  return Math.max(0, ...lengths) * 2 + (draft.as === null ? 1 : 0);
}

/** Results of drafts, kept. */
interface Memory {
  readonly run: RunDraft;
  readonly keep: (draft: Draft, run: DraftRun) => void;
  readonly result: (draft: Draft) => WrittenCase | null;
  /** Drafts that differ in one field from one, with the values of these pools. */
  readonly near: (draft: Draft, pools: Pools) => Neighbours;
}

interface Neighbours {
  /** The first ones: no more are tried. */
  readonly drafts: readonly Draft[];
  /** `changedKey` of all. */
  readonly keys: ReadonlySet<string>;
}

/** What differs from the draft that was changed: a large configuration has thousands of changes of each. */
function changedKey(draft: Draft, base: Draft): string {
  const fields = (Object.keys(draft) as (keyof Draft)[]).filter((field) => draft[field] !== base[field]);
  return JSON.stringify(fields.map((field) => [field, draft[field]]));
}

/** Mistakes in one route follow each other and are tried with the same requests. */
const KEPT_RESULTS = 10_000;
const KEPT_NEIGHBOURS = 4 * BASES;

/** Adds an entry; the oldest one leaves when there are too many. */
function put<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}

function memory(run: RunDraft, names: EditedNames, runs: number): Memory {
  const neighbours = new Map<Draft, Neighbours>();
  let lastPools: Pools | null = null;
  const results = new Map<string, WrittenCase | null>();
  const keep = (key: string, draft: Draft, ran: DraftRun): WrittenCase | null => {
    const result = resultOf(draft, ran, names);
    put(results, key, result, KEPT_RESULTS);
    return result;
  };
  return {
    run,
    near: (draft, pools) => {
      if (pools !== lastPools) neighbours.clear();
      lastPools = pools;
      let near = neighbours.get(draft);
      if (near === undefined) {
        const changes = changesOf(draft, pools);
        const keys = new Set(changes.map((each) => changedKey(each.draft, draft)));
        near = { drafts: fieldsInTurn(changes).slice(0, runs), keys };
        put(neighbours, draft, near, KEPT_NEIGHBOURS);
      }
      return near;
    },
    keep: (draft, ran) => void keep(JSON.stringify(draft), draft, ran),
    result: (draft) => {
      const key = JSON.stringify(draft);
      const known = results.get(key);
      return known === undefined ? keep(key, draft, run(draft)) : known;
    },
  };
}

/** The drafts of changes, each field in turn, so that those with many values do not hide the others. */
function fieldsInTurn(changes: readonly Change[]): readonly Draft[] {
  const byField = new Map<string, number>();
  const ranked = changes.map(({ field, draft }) => {
    const rank = byField.get(field) ?? 0;
    byField.set(field, rank + 1);
    return { rank, draft };
  });
  return ranked.sort((one, other) => one.rank - other.rank).map(({ draft }) => draft);
}

/** Everything that a case would assert; null if nothing can be sent. */
function resultOf(draft: Draft, run: DraftRun, names: EditedNames): WrittenCase | null {
  if (run.connection === null && run.simulatedRequests.length === 0) return null;
  return writtenCase('', draft, run, names);
}

/** Whether a case would pass with another result: reasons may be more, and fields that it does not mention. */
function holds(expected: unknown, received: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return expected === received;
  if (typeof received !== 'object' || received === null) return false;
  if (Array.isArray(expected)) {
    if (!Array.isArray(received)) return false;
    const isReasons = expected.some((each) => typeof each === 'object' && each !== null && 'code' in each);
    return isReasons
      ? expected.every((each) => received.some((other) => holds(each, other)))
      : expected.length === received.length && expected.every((each, at) => holds(each, received[at]));
  }
  return Object.entries(expected).every(([key, each]) =>
    holds(each, (received as Record<string, unknown>)[key]),
  );
}
