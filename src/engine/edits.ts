import { isRecurring, markRecurring, memoizeRecurring } from '../caches/recurring.ts';
import { type FieldList, hasField, isName, NO_FIELDS } from '../http/fields.ts';
import { foldedName } from '../http/forwarding.ts';
import type { Edit } from './contract.ts';

export type HeadersEdit = Extract<Edit, { edit: 'headers' }>;

/** The last result of one field list, by the edits applied to it. */
interface LastEdited {
  side: 'request' | 'response';
  edits: readonly Edit[] | null;
  out: FieldList;
}

const lastOf = memoizeRecurring((): LastEdited => ({ side: 'request', edits: null, out: NO_FIELDS }));

/** Applies the header edits of one side, in order. The input list is not changed. */
export function applyHeaderEdits(
  fields: FieldList,
  edits: readonly Edit[],
  side: 'request' | 'response',
): FieldList {
  if (edits.length === 0) return fields;
  if (!isRecurring(fields)) return edited(fields, edits, side);
  const last = lastOf(fields);
  if (last.edits === edits && last.side === side) return last.out;
  last.edits = edits;
  last.side = side;
  last.out = edited(fields, edits, side);
  markRecurring(last.out);
  return last.out;
}

function edited(fields: FieldList, edits: readonly Edit[], side: 'request' | 'response'): FieldList {
  for (const edit of edits)
    if (edit.edit === 'headers' && edit.on === side) return editHeaders(fields.slice(), edits, side);
  return fields;
}

/** Applies the header edits of one side to a list that nothing else has: the only place where edits become fields. */
export function editHeaders(
  fields: string[],
  edits: readonly Edit[],
  side: 'request' | 'response',
): string[] {
  for (let at = 0; at < edits.length; at++) {
    const edit = edits[at]!;
    if (edit.edit !== 'headers' || edit.on !== side) continue;
    for (let index = 0; index < edit.remove.length; index++) removeField(fields, edit.remove[index]!);
    for (let index = 0; index < edit.add.length; index++) fields.push(edit.add[index]!);
  }
  return fields;
}

function removeField(fields: string[], lower: string): void {
  let at = 0;
  while (at < fields.length && !isName(fields[at]!, lower)) at += 2;
  if (at >= fields.length) return;
  let kept = at;
  for (at += 2; at < fields.length; at += 2) {
    if (isName(fields[at]!, lower)) continue;
    fields[kept] = fields[at]!;
    fields[kept + 1] = fields[at + 1]!;
    kept += 2;
  }
  fields.length = kept;
}

/** The names that edits remove from the head of one side: trailers must not have them, either. Undefined for none. */
export function removedNames(
  edits: readonly Edit[],
  side: 'request' | 'response',
): readonly string[] | undefined {
  let names: readonly string[] | undefined;
  for (const edit of edits) {
    if (edit.edit === 'headers' && edit.on === side && edit.remove.length > 0)
      names = joinedNames(names, edit.remove);
  }
  return names;
}

export function joinedNames(
  names: readonly string[] | undefined,
  more: readonly string[] | undefined,
): readonly string[] | undefined {
  return names === undefined || more === undefined ? (names ?? more) : [...names, ...more];
}

/** Whether the text at an even place is a name that could be confused with another one. */
function isOddName(text: string, at: number): boolean {
  return at % 2 === 0 && /[^A-Za-z0-9-]/.test(text);
}

/**
 * A client's fields without those that CGI-like upstreams cannot tell from a field that the edits remove or add: what
 * the edge decides about `x-tenant` is decided about `x_tenant`, too.
 */
export function withoutLookAlikes(fields: string[], edits: readonly Edit[]): string[] {
  if (edits.length === 0 || !fields.some(isOddName)) return fields;
  const decided = new Set<string>();
  for (const edit of edits) {
    if (edit.edit !== 'headers' || edit.on !== 'request') continue;
    for (const name of edit.remove) decided.add(foldedName(name));
    for (let at = 0; at < edit.add.length; at += 2) decided.add(foldedName(edit.add[at]!));
  }
  if (decided.size === 0) return fields;
  const kept: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!;
    const folded = foldedName(name);
    if (isName(name, folded) || !decided.has(folded)) kept.push(name, fields[at + 1]!);
  }
  return kept;
}

/**
 * The edit for a list of removed names and of added fields, in any letter case: a name in both is replaced.
 * `host` is always replaced, because a request has exactly one (RFC 9112 §3.2).
 */
export function headersEdit(
  on: 'request' | 'response',
  remove: readonly string[],
  add: FieldList,
): HeadersEdit {
  const names = remove.map((name) => name.toLowerCase());
  const fields = add.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text));
  if (hasField(fields, 'host') && !names.includes('host')) names.push('host');
  return { edit: 'headers', on, remove: names, add: fields };
}
