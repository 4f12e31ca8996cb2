import { type Meter, CHARACTERS_PER_UNIT, LONG_STRING } from './limits.ts';
import {
  canonicalKey,
  CelMap,
  Double,
  Duration,
  foldsCase,
  isMap,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from './values.ts';
import type { MapValue, Value } from './values.ts';

/**
 * CEL equality: numbers of all kinds by their mathematical value, NaN not equal to anything, lists and maps by
 * their members, values of different types unequal and never an error (language definition, Equality). Charges
 * one unit per compared member; undefined if the budget is used up.
 */
export function equalWithin(left: Value, right: Value, meter: Meter): boolean | undefined {
  if (typeof left === 'string') {
    // Two long strings are compared character by character.
    if (left.length > LONG_STRING) meter.left -= left.length / CHARACTERS_PER_UNIT;
    return meter.left < 0 ? undefined : left === right;
  }
  if (left === right) return !(left instanceof Double) || !Number.isNaN(left.value);
  if (typeof left !== 'object' || left === null) {
    if (typeof left === 'number' || typeof left === 'bigint') return equalNumbers(left, right);
    return false;
  }
  if (left instanceof Uint) return equalNumbers(left.value, right);
  if (left instanceof Double) return equalDoubles(left.value, right);
  if (typeof right !== 'object' || right === null) return false;
  if (Array.isArray(left)) return Array.isArray(right) && equalLists(left, right, meter);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && equalBytes(left, right);
  if (left instanceof Timestamp) {
    return right instanceof Timestamp && left.seconds === right.seconds && left.nanos === right.nanos;
  }
  if (left instanceof Duration) {
    return right instanceof Duration && left.seconds === right.seconds && left.nanos === right.nanos;
  }
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof Optional) return right instanceof Optional && equalOptionals(left, right, meter);
  return isMap(left) && isMap(right) && equalMaps(left, right, meter);
}

/** Integers are canonical, so `===` compares them by value. */
function equalNumbers(left: number | bigint, right: Value): boolean {
  if (right instanceof Double) return equalDoubles(right.value, left);
  return left === (right instanceof Uint ? right.value : right);
}

/** Compared with a double, an integer is converted to the nearest double, as in cel-go. */
function equalDoubles(left: number, right: Value): boolean {
  const other = right instanceof Double || right instanceof Uint ? right.value : right;
  return (typeof other === 'number' || typeof other === 'bigint') && left === Number(other);
}

function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function equalLists(left: readonly Value[], right: readonly Value[], meter: Meter): boolean | undefined {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) {
    meter.left -= 1;
    if (meter.left < 0) return undefined;
    const same = equalWithin(left[index]!, right[index]!, meter);
    if (same !== true) return same;
  }
  return true;
}

function equalOptionals(left: Optional, right: Optional, meter: Meter): boolean | undefined {
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return equalWithin(left.value, right.value, meter);
}

function equalMaps(left: MapValue, right: MapValue, meter: Meter): boolean | undefined {
  if (sizeOfMap(left) !== sizeOfMap(right)) return false;
  for (const key of keysOfMap(left)) {
    meter.left -= 1;
    if (meter.left < 0) return undefined;
    const other = lookUp(right, key);
    if (other === undefined) return false;
    const same = equalWithin(lookUp(left, key)!, other, meter);
    if (same !== true) return same;
  }
  return true;
}

/** The value at a key; undefined if the map does not have the key (or cannot have it). */
export function lookUp(map: MapValue, key: Value): Value | undefined {
  if (map instanceof CelMap) {
    const canonical = canonicalKey(key);
    return canonical === undefined ? undefined : map.slots.get(canonical)?.[1];
  }
  if (typeof key !== 'string') return undefined;
  const name = foldsCase(map) ? key.toLowerCase() : key;
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

export function keysOfMap(map: MapValue): readonly Value[] {
  return map instanceof CelMap ? Array.from(map.slots.values(), (slot) => slot[0]) : Object.keys(map);
}

export function sizeOfMap(map: MapValue): number {
  return map instanceof CelMap ? map.slots.size : Object.keys(map).length;
}

/** Whether a list contains an equal value, or a map an equal key. Undefined if the budget is used up. */
export function memberWithin(
  value: Value,
  container: readonly Value[] | MapValue,
  meter: Meter,
): boolean | undefined {
  if (!Array.isArray(container)) return lookUp(container as MapValue, value) !== undefined;
  for (const element of container as readonly Value[]) {
    meter.left -= 1;
    if (meter.left < 0) return undefined;
    const same = equalWithin(element, value, meter);
    if (same !== false) return same;
  }
  return false;
}
