import type { Node } from '../cel/ast.ts';
import type { Type } from '../cel/types.ts';
import type { Value } from '../cel/values.ts';
import { machineOfPattern } from './fields.ts';
import { type NumberType, type Reader, orderOf } from './reader.ts';
import type { Term } from './term.ts';
import { timeField } from './time_parts.ts';
import { JS_SPACE, chainOf, listTerm, textTerm } from './terms.ts';
import type { AnyMachine } from './texts/machine.ts';
import {
  DIGITS,
  type NumberSet,
  decimals,
  lengths,
  listLengths,
  numbersBetween,
  onlyNumbers,
  positions,
} from './texts/numbers.ts';
import { OR_FAIL, type Reading, elementAt } from './texts/readings.ts';

/** A number, a time or a duration that an expression makes of a field. */
export interface NumberTerm {
  readonly term: Term;
  /** Its constants become whole numbers; undefined for constants that it cannot be compared with. */
  readonly numberOf: (constant: Value | undefined) => Bound | undefined;
  /** Which number is made of the text. */
  readonly how: string;
  /** The texts with a number of a set. */
  readonly texts: (set: NumberSet) => AnyMachine;
}

/** A constant among whole numbers: it is that number, or lies just before it. */
interface Bound {
  readonly at: bigint;
  readonly isBetween: boolean;
}

const INT64 = onlyNumbers('int64', numbersBetween(-(2n ** 63n), 2n ** 63n - 1n));
const INT_FORM = '[+-]?[0-9]{1,32}';
const LENGTH_FORM = '[0-9]{1,16}';
const SAFE = onlyNumbers('safe', numbersBetween(0n, BigInt(Number.MAX_SAFE_INTEGER)));

export function numberTerm(reader: Reader, given: Node): NumberTerm | null {
  const node = reader.resolved(given);
  if (reader.variable(node) === 'req.content_length')
    return parsed({ field: 'header content-length', readings: [elementAt(0), JS_SPACE] }, LENGTH_FORM, SAFE);
  const type = kindOf(reader.typed.types[node.id]);
  if (node.kind === 'call') {
    const made = called(reader, reader.overload(node) ?? '', reader.args(node));
    if (made !== null) return made;
  }
  const chain = type === null ? null : chainOf(reader, node);
  return chain === null ? null : decimal({ field: `number ${chain}`, readings: [OR_FAIL] }, type!);
}

function called(reader: Reader, overload: string, args: readonly Node[]): NumberTerm | null {
  const [subject, part] = args;
  if (overload === 'rand_double') return chance(reader);
  if (overload === 'rand_int' || overload === 'rand_int_int_int') return drawn(reader, args);
  if (subject === undefined) return null;
  if (overload === 'size_string') {
    const term = textTerm(reader, subject);
    return term === null ? null : { term, numberOf: intBound, how: 'length', texts: lengths };
  }
  if (overload === 'size_list' || overload === 'size_map') {
    const term = overload === 'size_list' ? listTerm(reader, subject) : null;
    if (term !== null) return { term, numberOf: intBound, how: 'elements', texts: listLengths };
    const chain = chainOf(reader, subject);
    return chain === null ? null : decimal({ field: `number size of ${chain}`, readings: [OR_FAIL] }, 'int');
  }
  if (overload === 'string_to_int64') {
    const term = textTerm(reader, subject);
    return term === null ? null : parsed(term, INT_FORM, INT64);
  }
  if (overload === 'int64_to_int64') return numberTerm(reader, subject);
  if (overload === 'string_index_of_string') {
    const text = reader.string(part!);
    const term = text === null ? null : textTerm(reader, subject);
    if (term === null) return null;
    const how = `position of ${JSON.stringify(text)}`;
    return { term, numberOf: intBound, how, texts: (set) => positions(text!, set) };
  }
  if (isNow(reader, overload, subject))
    return decimal({ field: 'number time.now', readings: [OR_FAIL] }, 'time');
  const time = reader.resolved(subject);
  const [text] = reader.args(time);
  const field =
    text !== undefined && isNow(reader, reader.overload(time) ?? '', text)
      ? timeField(overload, part === undefined ? null : reader.string(part))
      : null;
  return field === null ? null : decimal({ field, readings: [OR_FAIL] }, 'int');
}

function isNow(reader: Reader, overload: string, subject: Node): boolean {
  return overload === 'string_to_timestamp' && reader.variable(subject) === 'time.now';
}

/** A whole number of chance; each evaluation gets one of its own. */
function drawn(reader: Reader, bounds: readonly Node[]): NumberTerm | null {
  const [least, most] = bounds.length === 0 ? [0, 1] : bounds.map((each) => reader.constant(each));
  if (!Number.isSafeInteger(least) || !Number.isSafeInteger(most) || Number(most) - Number(least) < 0)
    return null;
  const field = `draw #${reader.setting.occurrence()} from ${String(least)} to ${String(most)}`;
  return Number.isSafeInteger(Number(most) - Number(least) + 1)
    ? decimal({ field, readings: [OR_FAIL] }, 'int')
    : null;
}

/** The number that a text is; that it has the right form is a condition of its own, because both together are large. */
function parsed(term: Term, form: string, range: Reading): NumberTerm {
  const { readings, guards = [] } = term;
  const set = { name: `form ${form}`, machine: () => machineOfPattern(`\\A${form}\\z`) as AnyMachine | null };
  const made = { ...term, readings: [...readings, DIGITS, range], guards: [...guards, { readings, set }] };
  return decimal(made, 'int');
}

export const CHANCE_FIELD = 'chance #';
/** A number of chance is a multiple of 2⁻⁵³. */
export const CHANCE_STEPS = 2 ** 53;

/** Each evaluation gets a number of its own. */
function chance({ setting }: Reader): NumberTerm {
  return {
    term: { field: `${CHANCE_FIELD}${setting.occurrence()}`, readings: [OR_FAIL] },
    numberOf: (constant) => {
      const number =
        typeof constant === 'object' && constant !== null && 'value' in constant ? constant.value : constant;
      if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
      const steps = number * CHANCE_STEPS;
      return { at: BigInt(Math.ceil(steps)), isBetween: !Number.isInteger(steps) };
    },
    how: 'chance',
    texts: (set) => decimals(set) as AnyMachine,
  };
}

function decimal(term: Term, type: NumberType): NumberTerm {
  return {
    term,
    numberOf: (constant) => (type === 'int' ? intBound(constant) : exactly(orderOf(constant, type))),
    how: 'decimal',
    texts: (set) => decimals(set) as AnyMachine,
  };
}

function exactly(at: bigint | undefined): Bound | undefined {
  return at === undefined ? undefined : { at, isBetween: false };
}

/** Ints can be compared with doubles, by value. */
function intBound(constant: Value | undefined): Bound | undefined {
  const order = orderOf(constant, 'int');
  if (order !== undefined || constant === undefined) return exactly(order);
  const number =
    typeof constant === 'object' && constant !== null && 'value' in constant ? constant.value : null;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  return { at: BigInt(Math.ceil(number)), isBetween: !Number.isInteger(number) };
}

function kindOf(type: Type | undefined): NumberType | null {
  if (type?.kind === 'int' || type?.kind === 'uint') return 'int';
  return type?.kind === 'timestamp' || type?.kind === 'duration' ? 'time' : null;
}
