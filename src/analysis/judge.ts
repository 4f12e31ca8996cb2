import { FORWARDED_METHODS } from '../http/methods.ts';
import { type AddressSet, sizesOf, union } from './addresses.ts';
import type { Cell } from './cells.ts';
import type { Change, ChangedRegion, UndecidedRegion } from './comparison.ts';
import { differencesOf } from './differences.ts';
import { exercisesOf } from './exercises.ts';
import type { Model } from './model.ts';
import type { Outcome } from './outcome.ts';
import type { Assignment, Solver, Values } from './relations.ts';
import { isAccepted } from './texts/automaton.ts';
import { conditionsOf, opaqueIn } from './walk.ts';
import { type Observed, type Witness, observe, witnessOf } from './witness.ts';

/** One class of requests with different outcomes. */
export interface Difference {
  readonly assignment: Assignment;
  readonly before: Outcome;
  readonly after: Outcome;
}

export interface Judging {
  readonly cell: Cell;
  readonly models: readonly [Model, Model];
  readonly solver: Solver;
}

interface Judged {
  readonly changes: readonly ChangedRegion[];
  readonly undecided: readonly UndecidedRegion[];
}

/** A region while it grows. */
interface Region extends Omit<ChangedRegion, 'size'> {
  readonly addresses: AddressSet;
  readonly methods: ReadonlySet<string>;
  readonly classes: number;
}

/** Judges the differences of a cell, which are grouped by their outcomes: shown by a request, or undecided. */
export function judgedCell(judging: Judging, groups: readonly (readonly Difference[])[]): Judged {
  const regions = new Map<string, Region>();
  const undecided = new Map<string, UndecidedRegion>();
  for (const differences of groups) {
    const found = judge(judging, differences);
    if (found === null) continue;
    if ('reasons' in found) {
      const key = found.reasons.toSorted().join();
      const known = undecided.get(key);
      if (known === undefined || found.conditions.length < known.conditions.length) undecided.set(key, found);
    } else {
      const key = decidersOf(found);
      const known = regions.get(key);
      regions.set(key, known === undefined ? found : together(known, found));
    }
  }
  const changes = Array.from(regions.values(), ({ addresses, methods, classes, ...region }) => ({
    ...region,
    size: { addresses: sizesOf(addresses), methods: methods.size, classes },
  }));
  return { changes, undecided: [...undecided.values()] };
}

/** Both regions, described by the one with fewer conditions. */
function together(one: Region, other: Region): Region {
  return {
    ...(other.conditions.length < one.conditions.length ? other : one),
    addresses: union(one.addresses, other.addresses),
    methods: new Set([...one.methods, ...other.methods]),
    classes: one.classes + other.classes,
  };
}

/** Regions with the same change and the same deciding places are shown as one. */
function decidersOf({ change, replayed }: Region): string {
  const places = [replayed.before, replayed.after].map(({ status, backend, explanation: { decidedBy } }) => [
    status,
    backend,
    decidedBy.code,
    decidedBy.pointer,
    decidedBy.inner?.map(({ pointer }) => pointer),
  ]);
  return JSON.stringify([change, places]);
}

/** Maximum number of requests that are run to show one change. */
const TRY_LIMIT = 32;

/** Finds a request of one of the classes that the engine decides differently; null if no class has a request. */
function judge(judging: Judging, differences: readonly Difference[]): Region | UndecidedRegion | null {
  const { cell, solver } = judging;
  const open: { readonly difference: Difference; readonly values: Values | null }[] = [];
  const reasons = new Set<string>();
  // Classes with few conditions outside of the request first: their requests are the easiest to find.
  const ranked = differences.map((difference) => ({ difference, effort: effort(difference) }));
  for (const { difference } of ranked.toSorted((one, other) => one.effort - other.effort)) {
    const values = solver.solve(difference.assignment);
    if (values === 'none') continue;
    open.push({ difference, values: values === 'unknown' ? null : values });
    if (values === 'unknown') reasons.add('the search for a text that fits several patterns was given up');
    for (const message of opaqueIn(difference.assignment)) reasons.add(message);
  }
  const [first] = open;
  if (first === undefined) return null;
  for (const further of [false, true]) {
    for (const { difference, values } of open.slice(0, further ? 1 : TRY_LIMIT)) {
      const shown = values === null ? null : shownBy(judging, difference, values, further);
      if (shown !== null) return { ...shown, ...sizeOf(open) };
    }
  }
  return {
    where: cell.message,
    conditions: conditionsOf(first.difference.assignment),
    reasons: reasons.size === 0 ? ['the request that was found shows no difference'] : [...reasons],
  };
}

function effort({ assignment }: Difference): number {
  return opaqueIn(assignment).length * 1_000 + assignment.length;
}

function sizeOf(
  open: readonly { readonly difference: Difference; readonly values: Values | null }[],
): Pick<Region, 'addresses' | 'methods' | 'classes'> {
  const addresses = open.reduce<AddressSet>(
    (sum, { values }) => (values === null ? sum : union(sum, values.addresses)),
    [],
  );
  const methods = new Set(open.flatMap(({ difference }) => methodsOf(difference.assignment)));
  return { addresses, methods, classes: open.length };
}

function methodsOf(assignment: Assignment): readonly string[] {
  const all = [...FORWARDED_METHODS];
  const own = assignment.filter(({ atom }) => atom.kind === 'text' && atom.field.name === 'method');
  if (own.length === 0) return all;
  return all.filter((method) =>
    own.every(({ atom, value }) => atom.kind !== 'text' || isAccepted(atom.dfa, method) === value),
  );
}

/** A request of the class that both engines decide differently; `further` also tries other chance and earlier requests. */
function shownBy(
  { cell, models }: Judging,
  { assignment, before, after }: Difference,
  values: Values,
  further: boolean,
): Omit<Region, 'addresses' | 'methods' | 'classes'> | null {
  const plain = witnessOf(values);
  if (plain === null) return null;
  for (const witness of further ? variants(plain, cell, models) : [plain]) {
    const observed = bothOf(models, witness);
    if (observed === null) continue;
    const [least, old, next] = smallest(models, witness, observed);
    return {
      change: changeOf(old, next),
      differs: differencesOf(old, next),
      where: cell.message,
      conditions: [...new Set(conditionsOf(assignment))],
      before,
      after,
      witness: least,
      replayed: { before: old, after: next },
    };
  }
  return null;
}

/** What both configurations do with a request; null if that looks alike. */
function bothOf(
  [older, newer]: readonly [Model, Model],
  witness: Witness,
): readonly [Observed, Observed] | null {
  const [old, next] = [observe(older, witness), observe(newer, witness)];
  return old === null || next === null || old.seen === next.seen ? null : [old, next];
}

/** Values of chance that tell apart shares of a tenth and more. */
const CHANCES = Array.from({ length: 20 }, (_, at) => (at + 0.5) / 20);

function* variants(plain: Witness, { routed }: Cell, models: readonly Model[]): Generator<Witness> {
  if (models.some((model) => observe(model, plain)?.usesChance === true))
    for (const chance of CHANCES) yield { ...plain, chance };
  for (const [at, route] of routed.entries()) {
    if (typeof route !== 'object') continue;
    for (const before of exercisesOf(models[at]!, route)) yield { ...plain, before };
  }
}

/** Leaves out empty fields that change nothing. */
function smallest(
  models: readonly [Model, Model],
  witness: Witness,
  observed: readonly [Observed, Observed],
): readonly [Witness, Observed, Observed] {
  const headers = witness.headers.filter(([, value]) => value !== '');
  if (headers.length === witness.headers.length) return [witness, ...observed];
  const less = { ...witness, headers };
  const again = bothOf(models, less);
  const isAlike = again?.every(({ status, backend }, at) => {
    const was = observed[at]!;
    return status === was.status && backend === was.backend;
  });
  return again !== null && isAlike === true ? [less, ...again] : [witness, ...observed];
}

/** The kind of a change, by what the engine did with a request. */
export function changeOf(before: Observed, after: Observed): Change {
  const [was, is] = [before, after].map(({ explanation: { decidedBy } }) => decidedBy.verdict === 'stop');
  if (was === true && is === false) return 'OPENED';
  if (was === false && is === true) return 'CLOSED';
  return before.backend === after.backend ? 'CHANGED' : 'REROUTED';
}
