/** Puts `***` in place of whatever is secret in a text. */
export type Hide = (text: string) => string;

/** A copy of plain data in which every text, keys included, is one that may be seen. */
export function hideIn<T>(value: T, hide: Hide): T {
  return hidden(value, hide) as T;
}

function hidden(value: unknown, hide: Hide): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => hidden(item, hide));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), hidden(item, hide)]));
}
