/**
 * Header fields as a flat list, `[name, value, name, value, …]`, in the received order and spelling. This is
 * the shape of Node's `rawHeaders` and of undici, so the list needs no copy on the way. Names are
 * case-insensitive (RFC 9110 §5.1); a name may occur more than once (§5.3).
 */
export type FieldList = readonly string[];

/** An empty list, shared. */
export const NO_FIELDS: FieldList = Object.freeze([]);

/** Whether `name` is `lower` in any letter case; `lower` must be lower case already. */
export function isName(name: string, lower: string): boolean {
  const last = name.length - 1;
  // Most names differ in length or in their last letter; `| 32` folds its case.
  if (last + 1 !== lower.length || (name.charCodeAt(last) | 32) !== (lower.charCodeAt(last) | 32))
    return false;
  return name === lower || name.toLowerCase() === lower;
}

/** The first value of field `lower` (a lower-case name), or undefined. */
export function firstValue(fields: FieldList, lower: string): string | undefined {
  for (let at = 0; at < fields.length; at += 2) if (isName(fields[at]!, lower)) return fields[at + 1];
  return undefined;
}

/** The value of field `lower` (a lower-case name), undefined without it, or null if there is more than one. */
export function onlyValue(fields: FieldList, lower: string): string | null | undefined {
  let found: string | undefined;
  for (let at = 0; at < fields.length; at += 2) {
    if (!isName(fields[at]!, lower)) continue;
    if (found !== undefined) return null;
    found = fields[at + 1];
  }
  return found;
}

/** All values of field `lower` (a lower-case name), in order. */
export function allValues(fields: FieldList, lower: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < fields.length; at += 2) if (isName(fields[at]!, lower)) values.push(fields[at + 1]!);
  return values;
}

/** Whether field `lower` (a lower-case name) is present. */
export function hasField(fields: FieldList, lower: string): boolean {
  return firstValue(fields, lower) !== undefined;
}

/** The list without field `lower`; the same list when there is none. */
export function withoutField(fields: FieldList, lower: string): FieldList {
  if (!hasField(fields, lower)) return fields;
  const kept: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    if (!isName(fields[at]!, lower)) kept.push(fields[at]!, fields[at + 1]!);
  }
  return kept;
}

/**
 * The members of a comma-separated list field over all its lines, trimmed, in lower case (RFC 9110 §5.6.1).
 */
export function listMembers(fields: FieldList, lower: string): string[] {
  return exactListMembers(fields, lower).map((member) => member.toLowerCase());
}

/** As `listMembers`, in their original case, for lists with case-sensitive members. */
export function exactListMembers(fields: FieldList, lower: string): string[] {
  const members: string[] = [];
  for (const value of allValues(fields, lower)) {
    for (const part of value.split(',')) {
      const member = part.trim();
      if (member !== '') members.push(member);
    }
  }
  return members;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// oxlint-disable-next-line no-control-regex -- RFC 9110 §5.5 names these bytes
const FORBIDDEN_IN_VALUE = /[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/;

/** Whether `text` is a field name (RFC 9110 §5.1: a token). */
export function isFieldName(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * Whether `text` may be sent as a field value: Latin-1 without control characters except tab (RFC 9110 §5.5).
 */
export function isFieldValue(text: string): boolean {
  return !FORBIDDEN_IN_VALUE.test(text);
}

/** Names and values, in order. */
export function fieldPairs(fields: FieldList): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < fields.length; at += 2) pairs.push([fields[at]!, fields[at + 1]!]);
  return pairs;
}
