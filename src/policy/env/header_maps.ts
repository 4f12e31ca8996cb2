import type { FieldList } from '../../http/fields.ts';
import { type StringMap, headerFields } from '../../cel/values.ts';

/** Cached lower-case names; the same names occur in each request. */
const lowerCase = new Map<string, string>();
const CACHED_NAMES = 1_024;
const KEPT_NAME_LENGTH = 64;

/** All fields of a list by lower-case name, each with its values in order. */
export function headerMapOf(fields: FieldList): StringMap {
  const map = headerFields() as Record<string, string[]>;
  for (let at = 0; at < fields.length; at += 2) {
    const name = lowered(fields[at]!);
    const values = map[name];
    if (values === undefined) map[name] = [fields[at + 1]!];
    else values.push(fields[at + 1]!);
  }
  return map;
}

function lowered(name: string): string {
  const known = lowerCase.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (lowerCase.size < CACHED_NAMES && name.length <= KEPT_NAME_LENGTH) lowerCase.set(name, lower);
  return lower;
}
