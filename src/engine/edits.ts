import { type FieldList, hasField, isName } from '../http/fields.ts';
import type { Edit } from './contract.ts';

export type HeadersEdit = Extract<Edit, { edit: 'headers' }>;

/**
 * Applies the header edits of one side, in order: the only place where edits become fields. The list is copied
 * before it is changed, unless it is the caller's own to change.
 */
export function applyHeaderEdits(
  fields: FieldList,
  edits: readonly Edit[],
  side: 'request' | 'response',
  owned: string[] | null = null,
): FieldList {
  let out: string[] | null = owned;
  for (let at = 0; at < edits.length; at++) {
    const edit = edits[at]!;
    if (edit.edit !== 'headers' || edit.on !== side) continue;
    out ??= fields.slice();
    for (let index = 0; index < edit.remove.length; index++) removeField(out, edit.remove[index]!);
    for (let index = 0; index < edit.add.length; index++) out.push(edit.add[index]!);
  }
  return out ?? fields;
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
