import { HTAB } from './bytes.ts';
import { section } from './fields.ts';
import { KIND } from './names.ts';

/** What the fields of a head say about the message and its connection, collected while the list is built. */
export class HeadFields {
  readonly list: string[] = [];
  hosts = 0;
  lengths = 0;
  length = '';
  codings = 0;
  coding = '';
  /** The members of all `Connection` fields, in lower case; may be empty. */
  connection = '';
  hasUpgrade = false;
  expect: string | null = null;
  te = '';
  keepAlive = '';
}

/**
 * Builds the list `[name, value, …]` from the last section. `text` contains the bytes from `base` on as
 * Latin-1, so that values are substrings and not copies.
 */
export function gatherFields(text: string, base: number): HeadFields {
  const { names, values, count } = section;
  const fields = new HeadFields();
  const { list } = fields;
  for (let index = 0; index < count; index++) {
    const name = names[index]!;
    const value = text.slice(values[2 * index]! - base, values[2 * index + 1]! - base);
    list.push(name.text, value);
    if (name.kind === KIND.other) continue;
    note(fields, name.kind, value);
    // Some parsers trim a tab after a coding, others read it as part of an unknown coding.
    if (name.kind === KIND.transferEncoding && text.charCodeAt(values[2 * index + 1]! - base) === HTAB) {
      fields.coding += '\t';
    }
  }
  return fields;
}

function note(fields: HeadFields, kind: number, value: string): void {
  switch (kind) {
    case KIND.host:
      fields.hosts++;
      break;
    case KIND.contentLength:
      fields.lengths++;
      fields.length = value;
      break;
    case KIND.transferEncoding:
      fields.codings++;
      fields.coding = value;
      break;
    case KIND.connection: {
      const lower = value.toLowerCase();
      fields.connection = fields.connection === '' ? lower : `${fields.connection},${lower}`;
      break;
    }
    case KIND.upgrade:
      fields.hasUpgrade = true;
      break;
    case KIND.expect:
      // Several field lines form one list (RFC 9110 §5.3).
      fields.expect = fields.expect === null ? value.toLowerCase() : `${fields.expect},${value}`;
      break;
    case KIND.te:
      fields.te = fields.te === '' ? value.toLowerCase() : `${fields.te},${value.toLowerCase()}`;
      break;
    case KIND.keepAlive:
      fields.keepAlive = value;
      break;
  }
}

/** Whether a comma-separated list in lower case contains `member`. */
export function hasMember(list: string, member: string): boolean {
  if (list === member) return true;
  if (!list.includes(member)) return false;
  return list.split(',').some((part) => part.trim() === member);
}

/** Whether the connection persists after a message (RFC 9112 §9.3). */
export function isKept(version: '1.0' | '1.1', connection: string): boolean {
  if (connection === '' || connection === 'keep-alive') return version === '1.1' || connection !== '';
  if (hasMember(connection, 'close')) return false;
  return version === '1.1' || hasMember(connection, 'keep-alive');
}
