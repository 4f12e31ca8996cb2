/** An answer of this many characters of JSON or fewer is given whole. */
const SMALL = 1_800;
/** Longer ones are not given, even when the client asks for everything. */
const LARGE = 200_000;
/** How many items of each list, and characters of each text, are kept: the first pair that is short enough. */
const CUTS: readonly (readonly [items: number, characters: number])[] = [
  [40, 2_000],
  [20, 600],
  [10, 300],
  [6, 200],
  [4, 160],
  [3, 120],
  [2, 100],
  [1, 80],
  [1, 40],
  [0, 30],
];

/** A result in a size that suits a conversation. */
export interface ShortAnswer {
  readonly value: unknown;
  /** Whether something was left out. */
  readonly isShortened: boolean;
}

/** Keeps the beginnings of long lists and texts, and says how much is missing; empty members are left out. */
export function shortened(value: unknown, isWhole: boolean): ShortAnswer {
  const limit = isWhole ? LARGE : SMALL;
  const full = cut(value, Infinity, Infinity);
  if (sizeOf(full) <= limit) return { value: full, isShortened: false };
  for (const [items, characters] of CUTS) {
    const part = cut(value, items, characters);
    if (sizeOf(part) <= limit) return { value: part, isShortened: true };
  }
  return { value: null, isShortened: true };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

function cut(value: unknown, items: number, characters: number): unknown {
  if (typeof value === 'string' && value.length > characters)
    return `${value.slice(0, characters)}… (${value.length - characters} more characters)`;
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((each) => cut(each, items, characters));
    return kept.length < value.length ? [...kept, `… ${value.length - kept.length} more`] : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, each]) => !isEmpty(each));
  return Object.fromEntries(members.map(([key, each]) => [key, cut(each, items, characters)]));
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
