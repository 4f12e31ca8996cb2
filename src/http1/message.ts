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

/** Values of longer sections are copied: a cached substring would keep the whole section in memory, up to a megabyte. */
const LONGEST_SHARED_BYTES = 4_096;

/**
 * Builds the list `[name, value, …]` of the last section, which is `bytes[from..to)`. Values are substrings of its text, not
 * copies, unless it is long.
 */
export function gatherFields(bytes: Buffer, from: number, to: number): HeadFields {
  return gather(bytes, from, to - from > LONGEST_SHARED_BYTES ? null : bytes.toString('latin1', from, to));
}

/** The same with the text of the section; null to copy each value. */
export function gather(bytes: Buffer, from: number, text: string | null): HeadFields {
  const { names, values, count } = section;
  const fields = new HeadFields();
  const { list } = fields;
  for (let index = 0; index < count; index++) {
    const name = names[index]!;
    const begin = values[2 * index]!;
    const end = values[2 * index + 1]!;
    const value = text === null ? bytes.toString('latin1', begin, end) : text.slice(begin - from, end - from);
    list.push(name.text, value);
    if (name.kind === KIND.other) continue;
    note(fields, name.kind, value);
    // Some parsers trim a tab after a coding, others read it as part of an unknown coding.
    if (name.kind === KIND.transferEncoding && bytes[end] === HTAB) fields.coding += '\t';
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
