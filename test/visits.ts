type Method = (this: unknown, ...given: unknown[]) => unknown;

/** What iterates over collections, with the number of members that a call visits. */
const VISITING: readonly (readonly [owner: object, names: readonly PropertyKey[], sizeOf: Size])[] = [
  [
    Array.prototype,
    [Symbol.iterator, 'map', 'flatMap', 'filter', 'every', 'some', 'find', 'forEach', 'reduce', 'sort'],
    (self) => (self as unknown[]).length,
  ],
  [Map.prototype, [Symbol.iterator, 'keys', 'values', 'entries', 'forEach'], sizeOfSelf],
  [Set.prototype, [Symbol.iterator, 'values', 'forEach'], sizeOfSelf],
  [Object, ['keys', 'values', 'entries'], (_self, [of]) => Reflect.ownKeys(of as object).length],
];

type Size = (self: unknown, given: readonly unknown[]) => number;

function sizeOfSelf(self: unknown): number {
  return (self as { readonly size: number }).size;
}

/** How many members of collections some work visits: a measure of it that does not depend on the machine. */
export function visitsOf(work: () => void): number {
  let visits = 0;
  const restore: (() => void)[] = [];
  for (const [owner, names, sizeOf] of VISITING) {
    for (const name of names) {
      const members = owner as Record<PropertyKey, Method>;
      const original = members[name]!;
      const counting: Method = function counting(this: unknown, ...given) {
        visits += sizeOf(this, given);
        return Reflect.apply(original, this, given);
      };
      restore.push(() => void (members[name] = original));
      members[name] = counting;
    }
  }
  try {
    work();
  } finally {
    for (const undo of restore) undo();
  }
  return visits;
}
