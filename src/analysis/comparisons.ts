import type { Binary, BinaryOperator, Call, Node } from '../cel/ast.ts';
import { Double, Uint, type Value } from '../cel/values.ts';
import { isCidrProblem, parseCidr } from '../net/cidr.ts';
import { parseAddress } from '../net/address.ts';
import { type AddressSet, NO_ADDRESSES, addressOnly, addressesIn } from './addresses.ts';
import type { Diagram, Truth } from './diagram.ts';
import { machineOfPattern, quoted } from './fields.ts';
import { type NumberTerm, numberTerm } from './number_terms.ts';
import type { Reader } from './reader.ts';
import { ofTerm } from './term_conditions.ts';
import type { Term } from './term.ts';
import { chainOf, listTerm, textTerm } from './terms.ts';
import type { AnyMachine } from './texts/machine.ts';
import { literals } from './texts/machine.ts';
import { type NumberSet, numbersBelow, numbersFrom, theseNumbers } from './texts/numbers.ts';
import { LIST_OR_FAIL, OR_FAIL } from './texts/readings.ts';
import { comparedWith, someElement, thisList } from './texts/comparing.ts';

/** The requests for which a comparison with constants holds; null for other comparisons, and if the texts are too many. */
export function comparison(reader: Reader, node: Binary): Diagram<Truth> | null {
  const { left, right, operator } = node;
  if (reader.overload(node) === null) return null;
  if (operator === 'in') return membership(reader, node);
  if (operator === '==' || operator === '!=') {
    const lists = listEquality(reader, node);
    if (lists !== null) return operator === '==' ? lists : reader.setting.diagrams.not(lists);
  }
  const isFlipped = reader.constant(left) !== undefined;
  const [subject, value] = isFlipped ? [right, left] : [left, right];
  const constant = reader.constant(value);
  if (constant === undefined) return null;
  const order = isFlipped ? FLIPPED[operator] : operator;
  if (order === undefined) return null;
  if (typeof constant === 'string') return textComparison(reader, node, { subject, order, text: constant });
  if (typeof constant === 'boolean') {
    if (order !== '==' && order !== '!=') return null;
    const holds = truth(reader, subject);
    if (holds === null) return ofUntyped(reader, node, subject, { constant, isEqual: order === '==' });
    return constant === (order === '==') ? holds : reader.setting.diagrams.not(holds);
  }
  const term = numberTerm(reader, subject);
  if (term === null && (order === '==' || order === '!='))
    return ofUntyped(reader, node, subject, { constant, isEqual: order === '==' });
  const bound = term?.numberOf(constant);
  if (term === null || bound === undefined) return null;
  const { at, isBetween } = bound;
  const next = isBetween ? at : at + 1n;
  const set = order === '!=' ? theseNumbers(isBetween ? [] : [at]) : numbersThat(order, at, next);
  const holds = set === null ? null : inNumbers(reader, node, term, set);
  return holds !== null && order === '!=' ? reader.setting.diagrams.not(holds) : holds;
}

/** The numbers on one side of a bound; `next` is the first one behind it. */
function numbersThat(order: BinaryOperator, at: bigint, next: bigint): NumberSet | null {
  if (order === '==') return theseNumbers(at === next ? [] : [at]);
  if (order === '<') return numbersBelow(at);
  if (order === '<=') return numbersBelow(next);
  if (order === '>') return numbersFrom(next);
  return order === '>=' ? numbersFrom(at) : null;
}

const FLIPPED: Readonly<Partial<Record<BinaryOperator, BinaryOperator>>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function inNumbers(reader: Reader, node: Node, { term, how, texts }: NumberTerm, set: NumberSet) {
  const name = `${how} ${set.fromBelow} ${set.bounds.join()}`;
  return ofTerm(reader, term, node, { name, machine: () => texts(set) });
}

interface TextComparison {
  readonly subject: Node;
  readonly order: BinaryOperator;
  readonly text: string;
}

function textComparison(
  reader: Reader,
  node: Node,
  { subject, order, text }: TextComparison,
): Diagram<Truth> | null {
  const { diagrams } = reader.setting;
  if (order === '==' || order === '!=') {
    const equal = isClient(reader, subject)
      ? fromAddresses(reader, node, addressOfText(text))
      : oneOf(reader, subject, node, [text]);
    return equal === null || order === '==' ? equal : diagrams.not(equal);
  }
  const term = textTerm(reader, subject);
  if (term === null) return null;
  const machine = (): AnyMachine => comparedWith(text, order);
  return ofTerm(reader, term, node, { name: `${order} ${text}`, machine });
}

function isClient(reader: Reader, node: Node): boolean {
  return reader.variable(reader.resolved(node)) === 'conn.client_ip';
}

/** Whether a value is one of some texts. A value of another type equals no text. */
function oneOf(reader: Reader, subject: Node, node: Node, texts: readonly string[]): Diagram<Truth> | null {
  const term = textTerm(reader, subject) ?? untypedTerm(reader, subject);
  if (term === null) return null;
  const machine = (): AnyMachine => literals(texts, 'equal') as AnyMachine;
  return ofTerm(reader, term, node, { name: `in ${JSON.stringify(texts)}`, machine });
}

/** Whether a value of unknown type equals a number or a bool. */
function ofUntyped(
  reader: Reader,
  node: Node,
  subject: Node,
  { constant, isEqual }: { readonly constant: Value; readonly isEqual: boolean },
): Diagram<Truth> | null {
  const term = untypedTerm(reader, subject);
  const number = constant instanceof Double || constant instanceof Uint ? constant.value : constant;
  if (
    term === null ||
    (typeof number !== 'number' && typeof number !== 'bigint' && typeof number !== 'boolean')
  )
    return null;
  const equal = ofTerm(reader, term, node, {
    name: `is ${number}`,
    machine: () => thisList(['', String(number)]),
  });
  return equal === null || isEqual ? equal : reader.setting.diagrams.not(equal);
}

/** Whether a list of texts equals a list of constants. */
function listEquality(reader: Reader, node: Binary): Diagram<Truth> | null {
  for (const [one, other] of [[node.left, node.right] as const, [node.right, node.left] as const]) {
    const texts = reader.strings(other);
    const term = texts === null ? null : listTerm(reader, one);
    if (texts === null || term === null) continue;
    return ofTerm(reader, term, node, {
      name: `is ${JSON.stringify(texts)}`,
      machine: () => thisList(texts),
    });
  }
  return null;
}

function untypedTerm(reader: Reader, node: Node): Term | null {
  const isUntyped = reader.typed.types[node.id]?.kind === 'dyn';
  const chain = isUntyped ? chainOf(reader, node) : null;
  return chain === null ? null : { field: `any ${chain}`, readings: [LIST_OR_FAIL] };
}

function membership(reader: Reader, node: Binary): Diagram<Truth> | null {
  const { diagrams } = reader.setting;
  const { left } = node;
  const right = reader.resolved(node.right);
  const text = reader.string(left);
  if (text !== null) {
    const list = listTerm(reader, right);
    const machine = (): AnyMachine => someElement(literals([text], 'equal') as AnyMachine);
    return list === null
      ? null
      : ofTerm(reader, list, node, { name: `some ${JSON.stringify([text])}`, machine });
  }
  const texts = reader.strings(right);
  if (texts !== null) {
    if (!isClient(reader, left)) return oneOf(reader, left, node, texts);
    const sets = texts.map((each) => fromAddresses(reader, node, addressOfText(each)));
    return sets.reduce((sum, set) => diagrams.or(sum, set), diagrams.false);
  }
  if (right.kind !== 'list' || right.elements.some(({ optional }) => optional)) return null;
  const term = numberTerm(reader, left);
  const bounds = right.elements.map((element) => term?.numberOf(reader.constant(element.node)));
  if (term === null || bounds.includes(undefined)) return null;
  const exact = bounds.flatMap((bound) => (bound!.isBetween ? [] : [bound!.at]));
  return inNumbers(reader, node, term, theseNumbers(exact));
}

/** A value that is true or false, but not decided by the request. */
export function truth(reader: Reader, node: Node): Diagram<Truth> | null {
  const isBool = reader.typed.types[node.id]?.kind === 'bool';
  const chain = isBool ? chainOf(reader, node) : null;
  if (chain === null) return null;
  const term = { field: `truth ${chain}`, readings: [OR_FAIL] };
  return ofTerm(reader, term, node, {
    name: 'true',
    machine: () => literals(['true'], 'equal') as AnyMachine,
  });
}

/** Functions of a text, or of the client's address, with constants. */
export function textTest(reader: Reader, node: Call): Diagram<Truth> | null {
  const args = reader.args(node);
  if (reader.overload(node) === null || args.length !== 2) return null;
  const [subject, argument] = args as readonly [Node, Node];
  const text = reader.string(argument);
  if (node.name === 'inCidrRange' || node.name === 'inCidrRanges') {
    const texts = text === null ? reader.strings(argument) : [text];
    if (texts === null || !isClient(reader, subject)) return null;
    return fromAddresses(reader, node, addressesIn(texts.flatMap(lenientRange)));
  }
  const test = TEXT_TESTS[node.name];
  const term = text === null || test === undefined ? null : textTerm(reader, subject);
  if (term === null) return null;
  return ofTerm(reader, term, node, { name: `${node.name} ${text}`, machine: () => test!(text!) });
}

const TEXT_TESTS: Readonly<Record<string, (text: string) => AnyMachine | null>> = {
  startsWith: (text) => literals([text], 'prefix') as AnyMachine,
  endsWith: (text) => machineOfPattern(`${quoted(text)}\\z`) as AnyMachine | null,
  contains: (text) => machineOfPattern(quoted(text)) as AnyMachine | null,
  matches: (text) => machineOfPattern(text) as AnyMachine | null,
};

/** A range with bits set beyond its mask stands for the range that contains it; other errors give no range. */
function lenientRange(text: string) {
  const cidr = parseCidr(text);
  if (!isCidrProblem(cidr)) return [cidr];
  const held = cidr.problem === 'host_bits' ? parseCidr(cidr.suggestion) : cidr;
  return isCidrProblem(held) ? [] : [held];
}

/** Only the canonical text of an address equals the text of a client's address. */
function addressOfText(text: string): AddressSet {
  const address = parseAddress(text);
  return address === null || address.text !== text ? NO_ADDRESSES : addressOnly(address);
}

function fromAddresses(reader: Reader, node: Node, set: AddressSet): Diagram<Truth> {
  const { atoms, diagrams } = reader.setting;
  if (set.length === 0) return diagrams.false;
  return diagrams.atom(atoms.address('client address', set, reader.text(node)));
}
