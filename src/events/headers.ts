import type { FieldList } from '../http/fields.ts';
import type { NormalisedHeaders } from './catalogue.ts';

/** Entries kept of each kind: names and values repeat from request to request, but a client may send any. */
const KEPT_TEXTS = 4_096;
const KEPT_UNITS = 256;

/** Remembers what a text becomes, for a bounded number of short texts; starts afresh when it is full. */
function remembering(change: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const after = change(text);
    if (text.length <= KEPT_UNITS) {
      if (known.size >= KEPT_TEXTS) known.clear();
      known.set(text, after);
    }
    return after;
  };
}

/** `x-FORWARDED-for` → `X-Forwarded-For`. */
const capitalised = remembering((name) =>
  name
    .toLowerCase()
    .replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase()),
);

const lowerCase = remembering((value) => value.toLowerCase());

/** Header fields as events carry them: names capitalised, values lower case and in order. */
export function normaliseHeaders(fields: FieldList): NormalisedHeaders {
  const out: Record<string, string[]> = {};
  for (let at = 0; at < fields.length; at += 2) {
    const name = capitalised(fields[at]!);
    const value = lowerCase(fields[at + 1]!);
    const before = out[name];
    if (before === undefined) out[name] = [value];
    else if (Object.hasOwn(out, name)) before.push(value);
    // A field may be named like something that every object has.
    else
      Object.defineProperty(out, name, {
        value: [value],
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return out;
}
