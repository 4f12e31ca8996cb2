import type { MacroNode, Node } from '../cel/ast.ts';
import type { Atom } from './atoms.ts';
import type { Diagram, Truth } from './diagram.ts';
import { numberTerm } from './number_terms.ts';
import type { Reader } from './reader.ts';
import { placed } from './setting.ts';
import { isAbsent, ofTerm } from './term_conditions.ts';
import type { Term, TextSet } from './term.ts';
import { listTerm, textTerm } from './terms.ts';
import { rangeOf } from './texts/automaton.ts';
import { countedElements } from './texts/comparing.ts';
import type { AnyMachine, Machine } from './texts/machine.ts';

const QUANTIFIERS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'existsOne']);

/** The elements of longer lists of constants are not compared one by one. */
const ELEMENT_LIMIT = 200;

/** `exists`, `all` and `exists_one` over a list of constants, or of texts of one field; null for all others. */
export function quantified(reader: Reader, node: MacroNode, truthOf: TruthOf): Diagram<Truth> | null {
  const meaning = reader.typed.meanings[node.id];
  const [body, ...others] = node.bodies;
  const { name } = node.macro;
  if (!QUANTIFIERS.has(name) || body === undefined || others.length > 0) return null;
  const [local, second] = meaning?.means === 'declares' ? meaning.locals : [];
  if (local === undefined || second !== undefined) return null;
  const target = reader.resolved(node.target);
  if (target.kind === 'list') {
    const elements = target.elements.map((element) => (element.optional ? null : element.node));
    if (elements.includes(null) || elements.length > ELEMENT_LIMIT) return null;
    const { diagrams } = reader.setting;
    const failures = (elements as readonly Node[]).map((each) => failure(reader, each, truthOf));
    if (failures.includes(null)) return null;
    // The list is made before any element is asked.
    const fails = failures.reduce<Diagram<Truth>>((sum, each) => diagrams.or(sum, each!), diagrams.false);
    const holds = overNodes(reader, name, elements as readonly Node[], (each) =>
      truthOf(reader.with(local, { node: each }), body),
    );
    return diagrams.choose(fails, diagrams.error, holds, diagrams.error);
  }
  const list = listTerm(reader, target);
  if (list === null) return null;
  const field = `element ${local.name} of ${list.field}`;
  const inner = reader.withElement(local, { field, readings: [] });
  const holds = truthOf(inner, body);
  // Each element has its own value for an opaque condition.
  return inner.hasOpaqueElements
    ? null
    : split({ reader, node, name, list }, holds, placed(field, reader.setting));
}

/** Whether a value cannot be read; null if that is not known. */
function failure(reader: Reader, node: Node, truthOf: TruthOf): Diagram<Truth> | null {
  const { diagrams } = reader.setting;
  if (reader.constant(node) !== undefined) return diagrams.false;
  if (reader.typed.types[node.id]?.kind === 'bool')
    return diagrams.choose(truthOf(reader, node), diagrams.false, diagrams.false, diagrams.true);
  const term = textTerm(reader, node) ?? numberTerm(reader, node)?.term ?? listTerm(reader, node);
  return term === null ? null : isAbsent(reader, term);
}

type TruthOf = (reader: Reader, node: Node) => Diagram<Truth>;

function overNodes(
  { setting: { diagrams } }: Reader,
  name: string,
  elements: readonly Node[],
  holdsFor: (element: Node) => Diagram<Truth>,
): Diagram<Truth> {
  const results = elements.map(holdsFor);
  if (name === 'exists') return results.reduce((sum, each) => diagrams.or(sum, each), diagrams.false);
  if (name === 'all') return results.reduce((sum, each) => diagrams.and(sum, each), diagrams.true);
  // An error of any element is one of the whole; otherwise exactly one is true.
  const [, one] = results.reduce<readonly [Diagram<Truth>, Diagram<Truth>]>(
    ([none, single], each) => [
      diagrams.choose(each, diagrams.false, none, diagrams.error),
      diagrams.choose(each, none, single, diagrams.error),
    ],
    [diagrams.true, diagrams.false],
  );
  return one;
}

interface Quantifying {
  readonly reader: Reader;
  readonly node: MacroNode;
  readonly name: string;
  readonly list: Term;
}

/** Decides first what does not depend on the element. */
function split(quantifying: Quantifying, body: Diagram<Truth>, element: string): Diagram<Truth> | null {
  const { diagrams } = quantifying.reader.setting;
  const outer = firstOutside(body, element);
  if (outer === null) return overElements(quantifying, body);
  const [yes, no] = [true, false].map((value) =>
    split(quantifying, given(quantifying.reader, body, outer, value), element),
  );
  if (yes === null || yes === undefined || no === null || no === undefined) return null;
  return diagrams.choose(diagrams.atom(outer), yes, no, diagrams.error);
}

function isOfElement(atom: Atom, element: string): boolean {
  return atom.kind === 'text' && atom.field.name === element;
}

function firstOutside(body: Diagram<Truth>, element: string): Atom | null {
  if ('leaf' in body) return null;
  if (!isOfElement(body.atom, element)) return body.atom;
  return firstOutside(body.yes, element) ?? firstOutside(body.no, element);
}

/** A diagram where the value of an atom is known. */
function given(reader: Reader, body: Diagram<Truth>, atom: Atom, value: boolean): Diagram<Truth> {
  if ('leaf' in body) return body;
  if (body.atom === atom) return value ? body.yes : body.no;
  const [yes, no] = [body.yes, body.no].map((each) => given(reader, each, atom, value));
  return reader.setting.diagrams.ask(body.atom, yes!, no!);
}

/** The quantifier over a field, where the body is a function of the element alone. */
function overElements(
  { reader, node, name, list }: Quantifying,
  body: Diagram<Truth>,
): Diagram<Truth> | null {
  const { diagrams } = reader.setting;
  const some = (wanted: Truth, holds: (count: number) => boolean, how: string): Diagram<Truth> | null => {
    const machine = elementsThat(body, wanted);
    const set: TextSet = {
      name: `${how} ${keyOf(body)} is ${wanted}`,
      machine: () => countedElements(machine, holds),
    };
    return ofTerm(reader, list, node, set);
  };
  const failed = some('error', atLeastOne, 'some');
  const counted =
    name === 'all'
      ? some('false', (count) => count === 0, 'no')
      : name === 'exists'
        ? some('true', atLeastOne, 'some')
        : some('true', (count) => count === 1, 'one');
  if (failed === null || counted === null) return null;
  // What decides outweighs errors, but not for `exists_one`.
  if (name === 'all') return diagrams.choose(counted, failedOr(true), diagrams.false, diagrams.error);
  if (name === 'exists') return diagrams.choose(counted, diagrams.true, failedOr(false), diagrams.error);
  return diagrams.choose(failed, diagrams.error, counted, diagrams.error);

  function failedOr(otherwise: boolean): Diagram<Truth> {
    return diagrams.choose(
      failed!,
      diagrams.error,
      otherwise ? diagrams.true : diagrams.false,
      diagrams.error,
    );
  }
}

function atLeastOne(count: number): boolean {
  return count > 0;
}

/** A text that identifies the function of the element. */
function keyOf(body: Diagram<Truth>): string {
  if ('leaf' in body) return body.leaf;
  const test = body.atom.kind === 'text' ? body.atom.dfa.key : '';
  return `(${test} ? ${keyOf(body.yes)} : ${keyOf(body.no)})`;
}

/** The elements for which a diagram about them has a result. */
function elementsThat(body: Diagram<Truth>, wanted: Truth): AnyMachine {
  const tests = new Map<Atom, number>();
  const visit = (node: Diagram<Truth>): void => {
    if ('leaf' in node) return;
    if (!tests.has(node.atom)) tests.set(node.atom, tests.size);
    visit(node.yes);
    visit(node.no);
  };
  visit(body);
  const dfas = [...tests.keys()].flatMap((atom) => (atom.kind === 'text' ? [atom.dfa] : []));
  const isReached = (node: Diagram<Truth>, states: readonly number[]): boolean => {
    if ('leaf' in node) return node.leaf === wanted;
    const at = tests.get(node.atom)!;
    return isReached(dfas[at]!.accepts[states[at]!] === 1 ? node.yes : node.no, states);
  };
  const machine: Machine<readonly number[]> = {
    start: dfas.map(() => 0),
    keyOf: (states) => states.join(),
    cuts: dfas.flatMap(({ starts }) => starts),
    step: (states, point) =>
      dfas.map(({ starts, next }, at) => next[states[at]! * starts.length + rangeOf(starts, point)]!),
    accepts: (states) => isReached(body, states),
  };
  return machine as unknown as AnyMachine;
}
