import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import { fieldWriter, type WrittenFields } from '../http/field_writer.ts';
import { passedTrailers } from '../http/trailers.ts';
import { encodeName, encodeValue } from './hpack/encoder.ts';

/** Writes fields as a part of a header block: names in lower case, and without `host` (RFC 9113 §8.2, §8.3.1). */
export const encodedFields: (fields: FieldList) => WrittenFields = fieldWriter({
  before: (_name, lower) => (lower === 'host' ? '' : encodeName(lower)),
  // RFC 9113 §8.2.1: no white space around values.
  value: (value) => encodeValue(value.replaceAll(/^[ \t]+|[ \t]+$/g, '')),
});

/** The header block of the trailers that may be passed on; empty without any. */
export function encodedTrailers(trailers: FieldList): string {
  return trailers === NO_FIELDS ? '' : (encodedFields(passedTrailers(trailers)).text ?? '');
}

/** A field of ours. */
export function encodedField(name: string, value: string): string {
  return encodeName(name) + encodeValue(value);
}
