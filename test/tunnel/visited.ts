type Method = (this: unknown, ...given: unknown[]) => unknown;

const ARRAY = [
  'concat every fill filter find findIndex flat flatMap forEach includes indexOf join map reduce slice some sort',
  'toReversed toSorted toSpliced splice',
]
  .join(' ')
  .split(' ');
const OF_RECORD = ['keys', 'values', 'entries', 'fromEntries', 'assign'];

/**
 * How many members of arrays, maps, sets and records are visited while something runs: a measure of its work that does
 * not depend on the machine.
 */
export async function visited(run: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const restore: (() => void)[] = [];
  const replace = (on: object, name: string | symbol, by: (original: Method) => Method): void => {
    const before = Object.getOwnPropertyDescriptor(on, name)!;
    Object.defineProperty(on, name, { ...before, value: by(before.value as Method) });
    restore.push(() => Object.defineProperty(on, name, before));
  };
  const lengthOf = (thing: unknown): number =>
    Array.isArray(thing) ? thing.length : Object.getOwnPropertyNames(thing).length;
  for (const name of ARRAY)
    replace(
      Array.prototype,
      name,
      (original) =>
        function (this: unknown, ...given) {
          count += (this as unknown[]).length;
          return original.apply(this, given);
        },
    );
  for (const name of OF_RECORD)
    replace(Object, name, (original) => (...given) => {
      const last = given.at(-1);
      if (typeof last === 'object' && last !== null) count += lengthOf(last);
      return original(...given);
    });
  for (const { prototype } of [Map, Set]) {
    for (const name of ['keys', 'values', 'entries', 'forEach', Symbol.iterator])
      replace(
        prototype,
        name,
        (original) =>
          function (this: unknown, ...given) {
            // Most visitors visit all.
            count += (this as Map<unknown, unknown>).size;
            return original.apply(this, given);
          },
      );
  }
  try {
    await run();
  } finally {
    for (const back of restore) back();
  }
  return count;
}
