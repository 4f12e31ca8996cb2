import { joinedText } from '../caches/joined_text.ts';
import { memoizeRecurring } from '../caches/recurring.ts';
import { type FieldList, isFieldName, isFieldValue } from './fields.ts';
import { isFraming, isHopByHop } from './forwarding.ts';

/** How a protocol writes a field, as text in Latin-1. */
export interface FieldFormat {
  /** What precedes the value; empty if the field is left out. */
  readonly before: (name: string, lower: string) => string;
  readonly value: (value: string) => string;
}

/** The fields of a message in the form of a protocol. */
export interface WrittenFields {
  /** Null when a field cannot be written as one line. */
  readonly text: string | null;
  readonly hosts: number;
  readonly hasDate: boolean;
}

interface WrittenName {
  readonly before: string;
  readonly isHost: boolean;
  readonly isDate: boolean;
  /** The last value that passed the check, and how it is written: values often repeat. */
  lastValue: string;
  lastWritten: string;
}

const CACHED_NAMES = 2_048;
const CACHED_NAME_LENGTH = 64;
const CACHED_VALUE_LENGTH = 512;

const BROKEN: WrittenFields = { text: null, hosts: 0, hasDate: false };

/**
 * Makes the function that writes fields for a protocol. Framing and hop-by-hop fields are left out: only the writer of the
 * message sets them.
 */
export function fieldWriter(format: FieldFormat): (fields: FieldList) => WrittenFields {
  const known = new Map<string, WrittenName>();
  /** Null for an invalid name. */
  const writtenName = (name: string): WrittenName | null => {
    if (!isFieldName(name)) return null;
    const lower = name.toLowerCase();
    const made: WrittenName = {
      before: isHopByHop(lower) || isFraming(lower) ? '' : format.before(name, lower),
      isHost: lower === 'host',
      isDate: lower === 'date',
      lastValue: '',
      lastWritten: format.value(''),
    };
    if (known.size < CACHED_NAMES && name.length <= CACHED_NAME_LENGTH) known.set(name, made);
    return made;
  };
  const write = (fields: FieldList): WrittenFields => {
    let text = '';
    let hosts = 0;
    let hasDate = false;
    for (let at = 0; at < fields.length; at += 2) {
      const name = known.get(fields[at]!) ?? writtenName(fields[at]!);
      if (name === null) return BROKEN;
      if (name.before === '') continue;
      const value = fields[at + 1]!;
      let written = name.lastWritten;
      if (value !== name.lastValue) {
        if (!isFieldValue(value)) return BROKEN;
        written = format.value(value);
        if (value.length <= CACHED_VALUE_LENGTH) {
          name.lastValue = value;
          name.lastWritten = written;
        }
      }
      if (name.isHost) hosts++;
      else if (name.isDate) hasDate = true;
      text += name.before + written;
    }
    return { text, hosts, hasDate };
  };
  return memoizeRecurring(write, (made) => {
    if (made.text !== null) joinedText(made.text);
    return made;
  });
}
