import { joinedText } from '../caches/joined_text.ts';
import { memoizeRecurring } from '../caches/recurring.ts';
import type { HttpRequestComplete } from './catalogue.ts';
import type { NormalisedHeaders } from './field_types.ts';

/** What values of events are in JSON, identical to `JSON.stringify`. */

/** The metadata of `log` actions; most requests have no such action. */
export function logsJson(logs: HttpRequestComplete['traffic_policy']['logs']): string {
  return logs.length === 0 ? '[]' : JSON.stringify(logs);
}

/** Repeated header lists are normalised and serialised once. */
export const headersJson: (headers: NormalisedHeaders) => string = memoizeRecurring(writeHeaders, joinedText);

function writeHeaders(headers: NormalisedHeaders): string {
  let text = '';
  for (const name of Object.keys(headers)) {
    const member = memberOf(name);
    const values = headers[name]!;
    text += text === '' ? member.label : `,${member.label}`;
    // Values that repeat are one frozen list (`headers.ts`).
    text += values === member.values ? member.text : valuesJson(member, values);
  }
  return `{${text}}`;
}

/** A header of events: its name in quotes with a colon, and its last values with their text. */
interface Member {
  readonly label: string;
  values: readonly string[] | null;
  text: string;
}

const members = new Map<string, Member>();
/** Clients can send any names; longer ones are not kept either. */
const KEPT_MEMBERS = 1_024;
const KEPT_UNITS = 64;

function memberOf(name: string): Member {
  const before = members.get(name);
  if (before !== undefined) return before;
  const made: Member = { label: `${quoted(name)}:`, values: null, text: '' };
  if (name.length <= KEPT_UNITS) {
    if (members.size >= KEPT_MEMBERS) members.clear();
    members.set(name, made);
  }
  return made;
}

function valuesJson(member: Member, values: readonly string[]): string {
  const text = `[${values.length === 1 ? quoted(values[0]!) : values.map(quoted).join(',')}]`;
  if (Object.isFrozen(values)) {
    member.values = values;
    member.text = text;
  }
  return text;
}

/** Characters that need no escaping in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** From this length on, escaping takes no longer than finding out that there is nothing to escape. */
const LONG_UNITS = 64;

/** A text as JSON. */
export function quoted(text: string): string {
  if (text === '') return '""';
  if (text.length >= LONG_UNITS) return JSON.stringify(text);
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
