import { readDocument } from '../config_file/read.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import { POLICY_FILE } from '../policy/document/read.ts';
import { canonical } from './model.ts';

/** One part that differs between two configurations. */
export interface ConfigChange {
  /** JSON pointers of the part; those inside of a policy continue that of its text. Null where it is missing. */
  readonly before: string | null;
  readonly after: string | null;
  readonly was: unknown;
  readonly is: unknown;
  /** The newer configuration with the older part; not checked. */
  readonly undone: unknown;
}

/** The parts that differ, each as small as possible. Items of lists are paired by content, then in order. */
export function* configChanges(before: EdgeConfig, after: EdgeConfig): Generator<ConfigChange> {
  yield* between({ value: before, pointer: '' }, { value: after, pointer: '' }, '');
}

interface Part {
  readonly value: unknown;
  readonly pointer: string;
}

function* between(one: Part, other: Part, key: string): Generator<ConfigChange> {
  const [was, is] = [one.value, other.value];
  if (was === is) return;
  if (key === 'value' && isPolicyText(one.pointer) && typeof was === 'string' && typeof is === 'string')
    return yield* betweenPolicies(one, other);
  if (Array.isArray(was) && Array.isArray(is)) return yield* betweenLists(one, other);
  if (isMap(was) && isMap(is)) return yield* betweenMaps(one, other);
  if (canonical(was) === canonical(is)) return;
  yield { before: one.pointer, after: other.pointer, was, is, undone: was };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function* betweenMaps(one: Part, other: Part): Generator<ConfigChange> {
  const [was, is] = [one.value, other.value] as Record<string, unknown>[];
  for (const key of new Set([...Object.keys(was!), ...Object.keys(is!)])) {
    const [here, there] = [one, other].map(({ pointer }) => pointerTo(pointer, key));
    const [old, next] = [was![key], is![key]];
    if (old === undefined) {
      if (next === undefined) continue;
      const { [key]: _, ...undone } = is!;
      yield { before: null, after: there!, was: old, is: next, undone };
    } else if (next === undefined)
      yield { before: here!, after: null, was: old, is: next, undone: { ...is, [key]: old } };
    else
      for (const change of between({ value: old, pointer: here! }, { value: next, pointer: there! }, key))
        yield { ...change, undone: { ...is, [key]: change.undone } };
  }
}

function* betweenLists(one: Part, other: Part): Generator<ConfigChange> {
  const [was, is] = [one.value, other.value] as (readonly unknown[])[];
  const { pairs, removed, added } = paired(was!, is!);
  for (const [from, to] of pairs) {
    const old = { value: was![from], pointer: pointerTo(one.pointer, from) };
    const next = { value: is![to], pointer: pointerTo(other.pointer, to) };
    for (const change of between(old, next, '')) yield { ...change, undone: is!.with(to, change.undone) };
  }
  for (const from of removed)
    yield {
      before: pointerTo(one.pointer, from),
      after: null,
      was: was![from],
      is: undefined,
      undone: is!.toSpliced(Math.min(from, is!.length), 0, was![from]),
    };
  for (const to of added)
    yield {
      before: null,
      after: pointerTo(other.pointer, to),
      was: undefined,
      is: is![to],
      undone: is!.toSpliced(to, 1),
    };
  const order = pairs.toSorted(([here], [there]) => here - there).map(([, to]) => to);
  const isMoved = order.some((to, at) => at > 0 && order[at - 1]! > to);
  if (isMoved) yield { before: one.pointer, after: other.pointer, was, is, undone: was };
}

/** Items that correspond: equal ones, routes with the same match, and the others in order. */
function paired(was: readonly unknown[], is: readonly unknown[]) {
  const pairs: (readonly [from: number, to: number])[] = [];
  const removed = new Set(was.keys());
  const added = new Set(is.keys());
  const pairBy = (keyOf: (item: unknown, at: number) => string | null): void => {
    const byKey = new Map<string, number>();
    for (const to of added) {
      const key = keyOf(is[to], to);
      if (key !== null && !byKey.has(key)) byKey.set(key, to);
    }
    for (const from of removed) {
      const key = keyOf(was[from], from);
      const to = key === null ? undefined : byKey.get(key);
      if (key === null || to === undefined) continue;
      pairs.push([from, to]);
      byKey.delete(key);
      removed.delete(from);
      added.delete(to);
    }
  };
  pairBy((item, at) => `${at} ${canonical(item)}`);
  pairBy((item) => canonical(item));
  pairBy((item) => (isMap(item) && typeof item['match'] === 'string' ? item['match'] : null));
  for (const from of removed) {
    const [to] = added;
    if (to === undefined) break;
    pairs.push([from, to]);
    removed.delete(from);
    added.delete(to);
  }
  return { pairs, removed, added };
}

/** Modules whose `value` is the text of a policy. */
const POLICIES = Array.from(MODULE_FACTS.values()).flatMap(({ type, runsActions }) =>
  runsActions === true ? [`/${type}/value`] : [],
);

function isPolicyText(pointer: string): boolean {
  return POLICIES.some((end) => pointer.endsWith(end));
}

function* betweenPolicies(one: Part, other: Part): Generator<ConfigChange> {
  const [was, is] = [one, other].map(
    ({ value, pointer }) => readDocument({ name: pointer, text: value as string }, POLICY_FILE).document,
  );
  if (was === null || was === undefined || is === null || is === undefined) {
    yield { before: one.pointer, after: other.pointer, was: one.value, is: other.value, undone: one.value };
    return;
  }
  const old = { value: was.value, pointer: one.pointer };
  for (const change of between(old, { value: is.value, pointer: other.pointer }, ''))
    yield { ...change, undone: JSON.stringify(change.undone) };
}
