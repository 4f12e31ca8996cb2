/**
 * Freezes plain data deeply. Frozen values are taken to be frozen deeply, so that only the new parts of a configuration
 * are visited.
 */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}

/** The last copy of each value. */
const copies = new WeakMap<object, unknown>();

/**
 * Plain data of a caller, deeply frozen: the value itself if it is frozen already, otherwise a copy. An unchanged value
 * gives the same copy again, because caches identify parts by identity.
 */
export function frozenCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isDeepFrozen(value)) return value;
  const known = copies.get(value);
  if (known !== undefined && JSON.stringify(known) === JSON.stringify(value)) return known;
  const copy = copyOf(value);
  copies.set(value, copy);
  return copy;
}

/** Other objects than lists and maps, such as dates, are not data of a file; they stay as they are. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isDeepFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copyOf));
  if (Object.prototype.toString.call(value) !== '[object Object]') return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part)])));
}

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}
