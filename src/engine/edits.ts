import { type FieldList, hasField, isName } from '../http/fields.ts';
import type { Edit } from './contract.ts';

export type HeadersEdit = Extract<Edit, { edit: 'headers' }>;

/** Applies the header edits of one side, in order, to a copy: the only place where edits become fields. */
export function applyHeaderEdits(
  fields: FieldList,
  edits: readonly Edit[],
  side: 'request' | 'response',
): FieldList {
  let out = fields;
  for (const edit of edits) if (edit.edit === 'headers' && edit.on === side) out = applied(out, edit);
  return out;
}

function applied(fields: FieldList, { remove, add }: HeadersEdit): FieldList {
  const out: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!;
    if (!isRemoved(name, remove)) out.push(name, fields[at + 1]!);
  }
  for (let at = 0; at < add.length; at++) out.push(add[at]!);
  return out;
}

function isRemoved(name: string, remove: readonly string[]): boolean {
  for (let at = 0; at < remove.length; at++) if (isName(name, remove[at]!)) return true;
  return false;
}

/**
 * The edit of a remove list and of fields to add, in any letter case: a name in both is replaced. `host` is always
 * replaced, for there may be one only (RFC 9112 §3.2).
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
