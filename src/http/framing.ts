import { isLength } from './content_length.ts';
import { type Problem, problem } from './message_problem.ts';

/** The length of content: a number of bytes, `CHUNKED`, or `UNTIL_CLOSE`. */
export const CHUNKED = -1;
export const UNTIL_CLOSE = -2;

/** The framing fields of a head. */
export interface FramingFields {
  /** How often the field occurred, and its last value. */
  readonly lengths: number;
  readonly length: string;
  readonly codings: number;
  readonly coding: string;
}

const SHORT_LENGTH = /^[1-9][0-9]{0,8}$/;
const LIST_THAT_ENDS_IN_CHUNKED = /^[a-z0-9\-, \t]*,[ \t]*chunked$/i;

const TWICE_CHUNKED = /(?:^|,)[ \t]*chunked[ \t]*,/i;

const BOTH = problem('framing', 'both Content-Length and Transfer-Encoding are present');
const OLD_CODING = problem('framing', 'HTTP/1.0 has no Transfer-Encoding');
const CODINGS = problem('framing', 'there is more than one Transfer-Encoding field');
const OTHER_CODING = problem('transfer_coding', 'the only supported transfer coding is chunked');
const NOT_CHUNKED = problem('framing', 'Transfer-Encoding does not end in chunked');
const LENGTHS = problem('framing', 'there is more than one Content-Length field');
const NO_LENGTH = problem('framing', 'Content-Length is not a number of bytes');

/**
 * Determines where content ends (RFC 9112 §6.3), or refuses the message if two parsers could see different
 * ends. `silent` is the length of a message without framing fields.
 */
export function framingOf(fields: FramingFields, version: '1.0' | '1.1', silent: number): number | Problem {
  if (fields.codings > 0) {
    // RFC 9112 §6.1: both together, or any transfer coding in HTTP/1.0, is invalid framing.
    if (fields.lengths > 0) return BOTH;
    if (version === '1.0') return OLD_CODING;
    if (fields.codings > 1) return CODINGS;
    const { coding } = fields;
    if (coding === 'chunked' || coding.toLowerCase() === 'chunked') return CHUNKED;
    return LIST_THAT_ENDS_IN_CHUNKED.test(coding) && !TWICE_CHUNKED.test(coding) ? OTHER_CODING : NOT_CHUNKED;
  }
  if (fields.lengths === 0) return silent;
  if (fields.lengths > 1) return LENGTHS;
  const { length } = fields;
  if (length === '0' || SHORT_LENGTH.test(length)) return Number(length);
  return isLength(length) ? Number(length) : NO_LENGTH;
}
