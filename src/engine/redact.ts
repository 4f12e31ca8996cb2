/** Replaces secrets in a text with `***`. */
export type Redact = (text: string) => string;

/** A copy of plain data with secrets redacted in every string, keys included. */
export function redactIn<T>(value: T, redact: Redact): T {
  return redacted(value, redact) as T;
}

function redacted(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => redacted(item, redact));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redact(key), redacted(item, redact)]),
  );
}
