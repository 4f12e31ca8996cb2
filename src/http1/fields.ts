import { COLON, CR, HTAB, LF, SP, TOKEN, VALUE } from './bytes.ts';
import { type Name, nameAt } from './names.ts';
import { type Problem, problem } from '../http/message_problem.ts';

/** Results of reading besides a position: the input is incomplete, or it is invalid. */
export const MORE = -1 as const;
export const REFUSED = -2 as const;

type FieldProblem = Problem<'malformed' | 'head_too_large'>;

const BARE_CR = problem('malformed', 'a CR is not followed by LF');
const BARE_LF = problem('malformed', 'a line ends in a bare LF');
const FOLDED = problem('malformed', 'a field is folded over two lines');
const NO_NAME = problem('malformed', 'a field has no name');
const SPACE_BEFORE_COLON = problem('malformed', 'there is space between a field name and its colon');
const NO_COLON = problem('malformed', 'a field line has no colon');
const BAD_NAME = problem('malformed', 'a field name has a character that is not allowed in tokens');
const BAD_VALUE = problem('malformed', 'a field value has a control character');
const TOO_MANY = problem('head_too_large', 'there are more fields than the limit');

/**
 * The last section: names, and positions of values. Reading is synchronous, so one shared object is enough.
 */
export const section = {
  count: 0,
  names: [] as Name[],
  /** Two entries per value: start and end. */
  values: [] as number[],
  /** Why the last section was refused. */
  problem: BARE_CR as FieldProblem,
};

/**
 * Reads a field section (RFC 9112 §5) from `bytes[from..to)` into `section`. Returns the position after its
 * empty line, `MORE`, or `REFUSED`. Never reads past `to`, and refuses everything that another parser could
 * read differently.
 */
export function readSection(bytes: Buffer, from: number, to: number, limit: number): number {
  const { names, values } = section;
  let count = 0;
  let at = from;
  for (;;) {
    if (at >= to) return MORE;
    if (bytes[at] === CR) {
      if (at + 1 >= to) return MORE;
      if (bytes[at + 1] !== LF) return refuse(BARE_CR);
      section.count = count;
      return at + 2;
    }
    const nameFrom = at;
    let hash = 0;
    let byte = bytes[at]!;
    while (TOKEN[byte] === 1) {
      hash = (Math.imul(hash, 31) + byte) | 0;
      if (++at >= to) return MORE;
      byte = bytes[at]!;
    }
    if (byte !== COLON || at === nameFrom) return refuse(faultOfName(byte, at === nameFrom));
    if (count === limit) return refuse(TOO_MANY);
    const name = nameAt(bytes, nameFrom, at, hash);
    do {
      if (++at >= to) return MORE;
      byte = bytes[at]!;
    } while (byte === SP || byte === HTAB);
    const valueFrom = at;
    while (VALUE[byte] === 1) {
      if (++at >= to) return MORE;
      byte = bytes[at]!;
    }
    if (byte !== CR) return refuse(byte === LF ? BARE_LF : BAD_VALUE);
    if (at + 1 >= to) return MORE;
    if (bytes[at + 1] !== LF) return refuse(BARE_CR);
    let valueTo = at;
    while (valueTo > valueFrom && (bytes[valueTo - 1] === SP || bytes[valueTo - 1] === HTAB)) valueTo--;
    names[count] = name;
    values[2 * count] = valueFrom;
    values[2 * count + 1] = valueTo;
    count++;
    at += 2;
  }
}

function faultOfName(byte: number, isFirst: boolean): FieldProblem {
  if (isFirst && (byte === SP || byte === HTAB)) return FOLDED;
  if (isFirst && byte === COLON) return NO_NAME;
  if (byte === SP || byte === HTAB) return SPACE_BEFORE_COLON;
  if (byte === LF) return isFirst ? BARE_LF : NO_COLON;
  return byte === CR ? NO_COLON : BAD_NAME;
}

function refuse(why: FieldProblem): number {
  section.problem = why;
  return REFUSED;
}

/**
 * Checks the bytes of an incomplete head, so that one that cannot become valid is refused at once rather than
 * at its timeout: every LF must follow a CR, every CR must be followed by LF, and there are no control
 * characters.
 */
export function faultIn(bytes: Buffer, from: number, to: number, start: number): Problem | null {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === LF) {
      if (at === start || bytes[at - 1] !== CR) return BARE_LF;
    } else if (at > start && bytes[at - 1] === CR) return BARE_CR;
    else if (byte !== CR && VALUE[byte] === 0) return BAD_VALUE;
  }
  return null;
}

/** Whether `bytes[from..to)` contains the end of a head, an empty line. */
export function hasEnd(bytes: Buffer, from: number, to: number): boolean {
  return bytes.subarray(from, to).indexOf('\r\n\r\n', 0, 'latin1') >= 0;
}
