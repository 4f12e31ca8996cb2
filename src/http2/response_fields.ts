import { memoizeRecurring } from '../caches/recurring.ts';
import { type FieldList, isFieldName, isFieldValue, NO_FIELDS } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import { passedTrailers } from '../http/trailers.ts';
import { encodeName, encodeValue } from './hpack/encoder.ts';

/** How a field name is written. */
interface Outgoing {
  /** Its part of a header block; empty if the field belongs to another connection or to framing. */
  readonly prefix: string;
  readonly isDate: boolean;
  /** The last value that passed the check, and its part of a header block: values often repeat. */
  lastValue: string;
  lastEncoded: string;
}

const CACHED_NAMES = 2_048;
const MAX_KEPT = 512;
const known = new Map<string, Outgoing>();

/** Looks up a name; null for an invalid one. */
function outgoing(name: string): Outgoing | null {
  const before = known.get(name);
  if (before !== undefined) return before;
  if (!isFieldName(name)) return null;
  const lower = name.toLowerCase();
  const isDropped = isHopByHop(lower) || isFraming(lower) || lower === 'host';
  const prefix = isDropped ? '' : encodeName(lower);
  const made: Outgoing = { prefix, isDate: lower === 'date', lastValue: '', lastEncoded: encodeValue('') };
  if (known.size < CACHED_NAMES && name.length <= 64) known.set(name, made);
  return made;
}

export interface EncodedFields {
  /** A part of a header block; null when a field cannot be written as one line at the next hop. */
  readonly block: string | null;
  readonly hasDate: boolean;
}

const BROKEN: EncodedFields = { block: null, hasDate: false };

/**
 * Writes fields of a response: names in lower case, without hop-by-hop fields (RFC 9113 §8.2), framing and `host`.
 */
export const encodedFields: (fields: FieldList) => EncodedFields = memoizeRecurring((fields) => {
  let block = '';
  let hasDate = false;
  for (let at = 0; at < fields.length; at += 2) {
    const name = outgoing(fields[at]!);
    if (name === null) return BROKEN;
    if (name.prefix === '') continue;
    const value = fields[at + 1]!;
    hasDate ||= name.isDate;
    if (value === name.lastValue) {
      block += name.prefix + name.lastEncoded;
      continue;
    }
    if (!isFieldValue(value)) return BROKEN;
    // RFC 9113 §8.2.1: no white space around values.
    const encoded = encodeValue(value.replaceAll(/^[ \t]+|[ \t]+$/g, ''));
    if (value.length <= MAX_KEPT) {
      name.lastValue = value;
      name.lastEncoded = encoded;
    }
    block += name.prefix + encoded;
  }
  return { block, hasDate };
});

/** The header block of the trailers that may be passed on; empty without any. */
export function encodedTrailers(trailers: FieldList): string {
  return trailers === NO_FIELDS ? '' : (encodedFields(passedTrailers(trailers)).block ?? '');
}

/** A field of ours. */
export function encodedField(name: string, value: string): string {
  return encodeName(name) + encodeValue(value);
}
