import type { FieldList } from '../http/fields.ts';
import type { NormalisedHeaders } from './catalogue.ts';

/** Field names are few; their capitalised forms are kept, up to a bound that no client can exceed. */
const CAPITALISED_LIMIT = 2_048;
const capitalised = new Map<string, string>();

/** `x-FORWARDED-for` → `X-Forwarded-For`. */
function capitalise(name: string): string {
  const known = capitalised.get(name);
  if (known !== undefined) return known;
  const made = name
    .toLowerCase()
    .replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());
  if (capitalised.size < CAPITALISED_LIMIT && name.length <= 64) capitalised.set(name, made);
  return made;
}

/** Header fields as events carry them: names capitalised, values lower case and in order. */
export function normaliseHeaders(fields: FieldList): NormalisedHeaders {
  const out: Record<string, string[]> = {};
  for (let at = 0; at < fields.length; at += 2) {
    const name = capitalise(fields[at]!);
    const value = fields[at + 1]!.toLowerCase();
    // `__proto__` is a legal field name.
    if (name === '__proto__')
      Object.defineProperty(out, name, { value: [value], enumerable: true, configurable: true });
    else if (out[name] === undefined || !Object.hasOwn(out, name)) out[name] = [value];
    else out[name].push(value);
  }
  return out;
}
