/** Replaces secrets in a text with `***`. */
export type Redact = (text: string) => string;

/** Plain data with secrets redacted in every string, keys included: a copy if any contains one, otherwise the same. */
export function redactIn<T>(value: T, redact: Redact): T {
  return redacted(value, redact) as T;
}

function redacted(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => redacted(item, redact));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const entries = Object.entries(value);
  let isSame = true;
  const shown = entries.map(([key, item]) => {
    const each = [redact(key), redacted(item, redact)] as const;
    if (each[0] !== key || each[1] !== item) isSame = false;
    return each;
  });
  return isSame ? value : Object.fromEntries(shown);
}
