import { pointerTo } from '../diagnostics/diagnostic.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { type Cidr, isCidrProblem, parseRange } from '../net/cidr.ts';
import { type AddressSet, addressesIn, complement, intersection, sizesOf } from './addresses.ts';
import type { Found } from './finding.ts';
import type { Model } from './model.ts';

/** A module or an action that decides by address ranges. */
export interface RangeUse {
  readonly face: 'module' | 'action';
  readonly type: string;
  readonly config: object;
  /** JSON pointer of its config. */
  readonly pointer: string;
}

interface Entry {
  readonly pointer: string;
  readonly action: 'allow' | 'deny';
  readonly range: Cidr;
}

/** Ranges without effect, and sets of ranges that let nothing or everything through. */
export function rangeFindings(model: Model, uses: readonly RangeUse[]): readonly Found[] {
  const found: Found[] = [];
  /** For each range: why it has no effect in the uses so far; null if it has one. */
  const idle = new Map<string, Found['code'] | null>();
  for (const use of uses) {
    const entries = entriesOf(model, use);
    if (entries === null) continue;
    const sets = setsOf(entries);
    const allowed = intersection(sets.allow.any, complement(sets.deny.any));
    found.push(...asWhole(use, allowed, entries));
    for (const entry of entries) {
      const why = idleness(entry, sets);
      const known = idle.get(entry.pointer);
      idle.set(
        entry.pointer,
        known === undefined || why === null || known === why ? why : merged(known, why),
      );
    }
  }
  const isBlocked = new Set(
    found.filter(({ code }) => code === 'analysis.blocks_all').map(({ pointer }) => pointer),
  );
  for (const [pointer, code] of idle) {
    if (code === null) continue;
    const isPartOfBlocked = [...isBlocked].some((use) => pointer.startsWith(`${use}/`));
    if (!isPartOfBlocked || code === 'analysis.swallowed_range')
      found.push({ code, pointer, isRemovable: code === 'analysis.redundant_range' });
  }
  return found;
}

function merged(one: Found['code'] | null, other: Found['code']): Found['code'] | null {
  return one === null ? null : one === 'analysis.swallowed_range' ? one : other;
}

function asWhole(use: RangeUse, allowed: AddressSet, entries: readonly Entry[]): readonly Found[] {
  const { pointer } = use;
  if (allowed.length === 0) {
    // Without ranges at all the check of the module speaks.
    return [{ code: 'analysis.blocks_all', pointer }];
  }
  if (complement(allowed).length === 0) return [{ code: 'analysis.allows_all', pointer }];
  const { v4, v6 } = sizesOf(allowed);
  const granted = addressesIn(entries.flatMap(({ action, range }) => (action === 'allow' ? [range] : [])));
  const [isWholeV4, isWholeV6] = [V4, V6].map((all) => intersection(all, complement(granted)).length === 0);
  const hasDeny = entries.some(({ action }) => action === 'deny');
  if (isWholeV4 && v6 === 0n)
    return [{ code: 'analysis.one_family', pointer, detail: 'clients with IPv6 are refused' }];
  if (isWholeV6 && v4 === 0n && !hasDeny)
    return [
      { code: 'analysis.one_family', pointer, detail: 'clients with IPv4, mapped or not, are refused' },
    ];
  return [];
}

const [V4, V6] = ['0.0.0.0/0', '::/0'].map((text) => addressesIn([parseRange(text) as Cidr])) as [
  AddressSet,
  AddressSet,
];

/** All ranges that decide a use, in the order of the lists; null if one is a template. */
function entriesOf({ config: { ip_policies: policies } }: Model, use: RangeUse): readonly Entry[] | null {
  const facts = use.face === 'module' ? MODULE_FACTS.get(use.type) : ACTION_FACTS.get(use.type);
  const lists = facts?.addressLists?.(use.config as never);
  if (lists === undefined) return null;
  const entries: Entry[] = [];
  const add = (text: string, action: 'allow' | 'deny', pointer: string): boolean => {
    const range = parseRange(text.trim());
    if (isCidrProblem(range)) return false;
    entries.push({ pointer, action, range });
    return true;
  };
  for (const action of ['allow', 'deny'] as const) {
    for (const [index, text] of lists[action].entries())
      if (!add(text, action, pointerTo(pointerTo(use.pointer, action), index))) return null;
  }
  for (const id of lists.policies) {
    const pointer = `${pointerTo('/ip_policies', id)}/rules`;
    for (const [index, { cidr, action }] of (policies[id]?.rules ?? []).entries())
      if (!add(cidr, action, pointerTo(pointer, index))) return null;
  }
  return entries;
}

interface Coverage {
  /** Addresses in at least one range. */
  readonly any: AddressSet;
  /** Addresses in exactly one. */
  readonly once: AddressSet;
}

type Sets = Readonly<Record<'allow' | 'deny', Coverage>>;

function setsOf(entries: readonly Entry[]): Sets {
  const of = (wanted: 'allow' | 'deny'): Coverage =>
    coverageOf(entries.filter(({ action }) => action === wanted).map(({ range }) => range));
  return { allow: of('allow'), deny: of('deny') };
}

/** Ranges of CIDR nest or are disjoint, so one pass over them in order finds what several of them cover. */
function coverageOf(ranges: readonly Cidr[]): Coverage {
  const bounds = ranges
    .map((range) => addressesIn([range]))
    .filter((set) => set.length > 0)
    .map((set) => [set[0]!, set.at(-1)!] as const)
    .sort(([one, oneEnd], [other, otherEnd]) =>
      one < other ? -1 : one > other ? 1 : oneEnd > otherEnd ? -1 : oneEnd < otherEnd ? 1 : 0,
    );
  const twice: bigint[] = [];
  let end = -1n;
  for (const [from, to] of bounds) {
    if (from >= end) end = to;
    // It lies within the one before it; of nested ones the outermost covers all.
    else if (twice.length === 0 || from >= twice.at(-1)!) twice.push(from, to);
  }
  const any = addressesIn(ranges);
  return { any, once: intersection(any, complement(twice)) };
}

/** Why a range has no effect: nothing changes without it; null if something does. */
function idleness({ action, range }: Entry, { allow, deny }: Sets): Found['code'] | null {
  const own = addressesIn([range]);
  if (action === 'deny') {
    const isNeeded = meets(own, deny.once, allow.any);
    return isNeeded ? null : 'analysis.redundant_range';
  }
  const left = within(own, complement(deny.any));
  if (left.length === 0) return 'analysis.swallowed_range';
  return left.some((part) => intersects(part, allow.once)) ? null : 'analysis.redundant_range';
}

type Part = readonly [from: bigint, to: bigint];

function meets(own: AddressSet, one: AddressSet, other: AddressSet): boolean {
  return within(own, one).some((part) => intersects(part, other));
}

function intersects(part: Part, set: AddressSet): boolean {
  return within(part, set).length > 0;
}

/** The parts of a range that are in a set; it does not visit those of the set outside of the range. */
function within(own: AddressSet, set: AddressSet): readonly Part[] {
  const parts: Part[] = [];
  for (let index = 0; index < own.length; index += 2) {
    const [from, to] = [own[index]!, own[index + 1]!];
    for (let at = firstAfter(set, from); at < set.length && set[at]! < to; at += 2) {
      const start = set[at]! > from ? set[at]! : from;
      const end = set[at + 1]! < to ? set[at + 1]! : to;
      if (start < end) parts.push([start, end]);
    }
  }
  return parts;
}

/** Index of the first part of a set that ends after a number. */
function firstAfter(set: AddressSet, number: bigint): number {
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (set[middle * 2 + 1]! > number) high = middle;
    else low = middle + 1;
  }
  return low * 2;
}
