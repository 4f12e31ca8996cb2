import { type FieldList, isName } from '../http/fields.ts';
import type { Edit } from './contract.ts';

/**
 * Applies the header edits of one side, in order, to a copy: the only place where edits become fields.
 * `host` is replaced, never repeated (RFC 9112 §3.2 allows one); any other name is appended as a new line.
 */
export function applyHeaderEdits(
  fields: FieldList,
  edits: readonly Edit[],
  side: 'request' | 'response',
): FieldList {
  let out: string[] | null = null;
  for (let at = 0; at < edits.length; at++) {
    const edit = edits[at]!;
    if (edit.edit === 'add_header' && edit.on === side) {
      out ??= fields.slice();
      if (edit.name === 'host') setFirst(out, 'host', edit.value);
      else out.push(edit.name, edit.value);
    } else if (edit.edit === 'remove_header' && edit.on === side) {
      out ??= fields.slice();
      removeField(out, edit.name);
    }
  }
  return out ?? fields;
}

function removeField(fields: string[], lower: string): void {
  let at = 0;
  while (at < fields.length && !isName(fields[at]!, lower)) at += 2;
  if (at === fields.length) return;
  let kept = at;
  for (at += 2; at < fields.length; at += 2) {
    if (isName(fields[at]!, lower)) continue;
    fields[kept] = fields[at]!;
    fields[kept + 1] = fields[at + 1]!;
    kept += 2;
  }
  fields.length = kept;
}

function setFirst(fields: string[], lower: string, value: string): void {
  removeField(fields, lower);
  fields.unshift(lower, value);
}

/** The edits of a remove list and an add map: all removals first, so that a name in both is replaced. */
export function headerEdits(
  on: 'request' | 'response',
  config: { readonly remove: readonly string[]; readonly add: Readonly<Record<string, string>> },
): readonly Edit[] {
  return [
    ...config.remove.map((name): Edit => ({ edit: 'remove_header', on, name: name.toLowerCase() })),
    ...Object.entries(config.add).map(([name, value]): Edit => ({
      edit: 'add_header',
      on,
      name: name.toLowerCase(),
      value,
    })),
  ];
}
