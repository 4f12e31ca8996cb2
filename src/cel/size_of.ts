import { keysOfMap, lookUp } from './equality.ts';
import { CHARACTERS_PER_UNIT } from './limits.ts';
import { isMap, Optional } from './values.ts';
import type { Value } from './values.ts';

/**
 * Units of a serialised value: one for each element and for 8 characters, including nested members. Lists with
 * shared members can be far larger serialised than in memory, so counting stops at `most`.
 */
export function sizeOfValue(value: Value, most: number): number {
  let units = 0;
  const waiting: Value[] = [value];
  for (let next = waiting.pop(); next !== undefined && units <= most; next = waiting.pop()) {
    units += 1;
    if (typeof next === 'string' || next instanceof Uint8Array) units += next.length / CHARACTERS_PER_UNIT;
    else if (Array.isArray(next)) pushAll(waiting, next as readonly Value[], most - units);
    else if (next instanceof Optional && next.value !== undefined) waiting.push(next.value);
    else if (isMap(next)) {
      const keys = keysOfMap(next);
      pushAll(waiting, keys, most - units);
      for (const key of keys) waiting.push(lookUp(next, key)!);
    }
  }
  return units;
}

function pushAll(waiting: Value[], values: readonly Value[], most: number): void {
  for (let index = 0; index < values.length && index <= most; index += 1) waiting.push(values[index]!);
}
