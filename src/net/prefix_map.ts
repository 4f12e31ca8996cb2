import type { Address } from './address.ts';
import { type Cidr, contains } from './cidr.ts';
import { type PrefixSet, prefixSet } from './prefix_set.ts';

/** Something with a range of addresses. */
interface Ranged {
  readonly cidr: Cidr;
  /** What it was made of, by which it is recognised; by default itself. */
  readonly of?: object;
}

/** Items by their ranges; a changed map shares with its predecessor all that did not change. */
export interface PrefixMap<Item extends Ranged> {
  readonly size: number;
  /** The item with the most specific range that contains the address (the first of equal ranges), or null. */
  readonly find: (address: Address) => Item | null;
  /** The map without some items and with others; takes as long as the change is large. */
  readonly with: (removed: readonly Item[], added: readonly Item[]) => PrefixMap<Item>;
}

/** Builds the map. */
export function prefixMap<Item extends Ranged>(items: readonly Item[]): PrefixMap<Item> {
  return mapOf<Item>({ size: 0, tables: [], wide: leafOf<Item>([]) }).with([], items);
}

/** Items that are searched together. */
interface Leaf<Item> {
  readonly items: readonly Item[];
  /** Null for few items, which are searched one by one. */
  readonly set: PrefixSet | null;
}

/** Many items, divided by the eight bits from `at` on, so that a change rebuilds few of them. */
interface Split<Item> {
  readonly at: number;
  readonly children: readonly (Chunk<Item> | undefined)[];
  /** Ranges that end within these bits. */
  readonly wide: Leaf<Item>;
}

/** The items whose ranges begin with the same bits. */
type Chunk<Item> = Leaf<Item> | Split<Item>;

/** Chunks by the leading 16 bits of IPv4 addresses, and by 16 bits made of the leading 32 of IPv6 addresses. */
interface Chunks<Item> {
  readonly size: number;
  /** In two levels of 256, so that a change copies little; those of IPv6 follow those of IPv4. */
  readonly tables: readonly (readonly (Chunk<Item> | undefined)[] | undefined)[];
  /** Ranges that are too wide for a chunk. Two ranges are nested or disjoint, so those in chunks are more specific. */
  readonly wide: Leaf<Item>;
}

const WIDE = -1;
/** Keys of IPv6 ranges follow those of IPv4. */
const FIRST_V6 = 0x1_0000;
const NARROWEST_WIDE = { 4: 15, 6: 31 } as const;
/** As many are searched one by one. */
const FEW = 8;
/** More are divided. */
const MANY = 512;

function keyOfAddress({ family, w0, w3 }: Address): number {
  return family === 4 ? w3 >>> 16 : FIRST_V6 + ((w0 ^ (w0 >>> 16)) & 0xffff);
}

function keyOf({ address, bits }: Cidr): number {
  return bits <= NARROWEST_WIDE[address.family] ? WIDE : keyOfAddress(address);
}

function mapOf<Item extends Ranged>(chunks: Chunks<Item>): PrefixMap<Item> {
  const { size, tables, wide } = chunks;
  const find = (address: Address): Item | null => {
    const key = keyOfAddress(address);
    const chunk = tables[key >>> 8]?.[key & 0xff];
    return (chunk && findIn(chunk, address)) ?? findIn(wide, address);
  };
  const findWide = (address: Address): Item | null => findIn(wide, address);
  return {
    size,
    find: size === 0 ? () => null : tables.length === 0 ? findWide : find,
    with: (removed, added) => mapOf(changed(chunks, removed, added)),
  };
}

function changed<Item extends Ranged>(
  { size, tables, wide }: Chunks<Item>,
  removed: readonly Item[],
  added: readonly Item[],
): Chunks<Item> {
  const gone = new Set(removed.map(originOf));
  const changes = Map.groupBy([...removed, ...added], ({ cidr }) => keyOf(cidr));
  const next = [...tables];
  const copied = new Set<number>();
  for (const [key, items] of changes) {
    if (key === WIDE) continue;
    const high = key >>> 8;
    if (!copied.has(high)) next[high] = [...(next[high] ?? [])];
    copied.add(high);
    const table = next[high] as (Chunk<Item> | undefined)[];
    table[key & 0xff] = chunkWith(table[key & 0xff], items, gone, key < FIRST_V6 ? 16 : 32);
  }
  const widened = changes.get(WIDE);
  return {
    size: size - removed.length + added.length,
    tables: next,
    wide: widened === undefined ? wide : leafWith(wide, widened, gone),
  };
}

/** A chunk with changed items: those whose origins are in `gone` go, the others are added. `at` is the first bit to divide by. */
function chunkWith<Item extends Ranged>(
  chunk: Chunk<Item> | undefined,
  changes: readonly Item[],
  gone: ReadonlySet<object>,
  at: number,
): Chunk<Item> {
  if (chunk !== undefined && 'children' in chunk) return splitWith(chunk, changes, gone);
  const items = itemsWith(chunk?.items ?? [], changes, gone);
  const isDivisible = items.length > MANY && items.some(({ cidr }) => cidr.bits >= at + 8);
  if (!isDivisible) return leafOf(items);
  return splitWith({ at, children: [], wide: leafOf([]) }, items, gone);
}

function splitWith<Item extends Ranged>(
  { at, children, wide }: Split<Item>,
  changes: readonly Item[],
  gone: ReadonlySet<object>,
): Split<Item> {
  const next = [...children];
  const ofBits = Map.groupBy(changes, ({ cidr }) =>
    cidr.bits < at + 8 ? WIDE : eightBitsOf(cidr.address, at),
  );
  for (const [bits, items] of ofBits)
    if (bits !== WIDE) next[bits] = chunkWith(next[bits], items, gone, at + 8);
  const widened = ofBits.get(WIDE);
  return { at, children: next, wide: widened === undefined ? wide : leafWith(wide, widened, gone) };
}

function eightBitsOf({ family, w0, w1, w2, w3 }: Address, at: number): number {
  const word = family === 4 || at >= 96 ? w3 : at < 64 ? (at < 32 ? w0 : w1) : w2;
  return (word >>> (24 - (at & 31))) & 0xff;
}

function originOf(item: Ranged): object {
  return item.of ?? item;
}

function itemsWith<Item extends Ranged>(
  items: readonly Item[],
  changes: readonly Item[],
  gone: ReadonlySet<object>,
): readonly Item[] {
  if (gone.size === 0) return items.length === 0 ? changes : [...items, ...changes];
  return [...items, ...changes].filter((item) => !gone.has(originOf(item)));
}

const leafWith = <Item extends Ranged>(
  { items }: Leaf<Item>,
  changes: readonly Item[],
  gone: ReadonlySet<object>,
): Leaf<Item> => leafOf(itemsWith(items, changes, gone));

function leafOf<Item extends Ranged>(items: readonly Item[]): Leaf<Item> {
  return { items, set: items.length <= FEW ? null : prefixSet(items.map(({ cidr }) => cidr)) };
}

function findIn<Item extends Ranged>(chunk: Chunk<Item>, address: Address): Item | null {
  if (!('children' in chunk)) return findInLeaf(chunk, address);
  const child = chunk.children[eightBitsOf(address, chunk.at)];
  // The ranges below are more specific than the wide ones.
  return (child && findIn(child, address)) ?? findInLeaf(chunk.wide, address);
}

function findInLeaf<Item extends Ranged>({ items, set }: Leaf<Item>, address: Address): Item | null {
  if (set !== null) return items[set.find(address)] ?? null;
  let best: Item | null = null;
  for (let at = 0; at < items.length; at++) {
    const item = items[at]!;
    if (contains(item.cidr, address) && (best === null || item.cidr.bits > best.cidr.bits)) best = item;
  }
  return best;
}
