import { grouped } from '../diagnostics/message_text.ts';
import type { Atom, Diagram, Field, Truth } from './atoms.ts';
import { Questions } from './questions.ts';
import { Relations } from './relations.ts';
import { ResultCache } from './result_cache.ts';

export type { Diagram, Truth } from './atoms.ts';

/** The diagrams of an analysis would need more nodes, or ways through them, than allowed. */
export class DiagramTooLarge extends Error {
  override readonly name = 'DiagramTooLarge';
}

/** Why an analysis was given up: it was too large. Throws any other error again. */
export function whyTooLarge(error: unknown): string {
  if (error instanceof DiagramTooLarge) return error.message;
  // Deep conditions exhaust the stack, and many values a map.
  if (error instanceof RangeError) return `the analysis is too large (${error.message})`;
  throw error;
}

const NODE_LIMIT = 1_000_000;
/** More than the id of any node, so that two ids make one number. */
const ID_SPACE = 2 ** 24;

/** Makes diagrams, each once. */
export class Diagrams {
  /** By the id of the atom, then by what follows. */
  readonly #decisions: Map<number, Diagram<never>>[] = [];
  readonly #leaves = new Map<string, Diagram<never>>();
  readonly #chosen = new ResultCache<Diagram<never>>();
  readonly #simplified = new ResultCache<Diagram<never>>();
  readonly #relations = new Relations();
  readonly #questions = new Questions();
  readonly #limit: number;
  #size = 0;
  readonly true: Diagram<Truth>;
  readonly false: Diagram<Truth>;
  readonly error: Diagram<Truth>;

  constructor(limit = NODE_LIMIT) {
    this.#limit = limit;
    this.true = this.leaf<Truth>('true', 'truth true');
    this.false = this.leaf<Truth>('false', 'truth false');
    this.error = this.leaf<Truth>('error', 'truth error');
  }

  /** `key` identifies the leaf. */
  leaf<Leaf>(leaf: Leaf, key: string): Diagram<Leaf> {
    return known(this.#leaves, key, () => ({ id: this.#nextId(), leaf, key }));
  }

  ask<Leaf>(atom: Atom, yes: Diagram<Leaf>, no: Diagram<Leaf>): Diagram<Leaf> {
    const ifSo = this.#given(atom, true, yes);
    const ifNot = this.#given(atom, false, no);
    if (ifSo === ifNot) return ifSo;
    if (this.#isAnsweredBy(atom, ifSo, ifNot)) return ifNot;
    const ofAtom = (this.#decisions[atom.id] ??= new Map());
    return known(ofAtom, ifSo.id * ID_SPACE + ifNot.id, () => {
      const made = { id: this.#nextId(), atom, yes: ifSo, no: ifNot };
      this.#questions.add(made);
      return made;
    });
  }

  /** A diagram without the questions about the same field that the value of an atom answers. */
  #given<Leaf>(atom: Atom, value: boolean, diagram: Diagram<Leaf>): Diagram<Leaf> {
    if ('leaf' in diagram || diagram.atom.field !== atom.field || isPlainOpaque(atom)) return diagram;
    const implies = (other: Atom): boolean | null => this.#implied(atom, value, other);
    if (!this.#questions.areAnswered(atom, value, diagram, implies)) return diagram;
    const side = value ? 1 : 0;
    const done = this.#simplified.get(atom.id, side, diagram.id);
    if (done !== undefined) return done;
    const implied = implies(diagram.atom);
    const yes = implied === false ? null : this.#given(atom, value, diagram.yes);
    const no = implied === true ? null : this.#given(atom, value, diagram.no);
    const made = yes === null ? no! : no === null ? yes : this.ask(diagram.atom, yes, no);
    this.#simplified.set(made as Diagram<never>, atom.id, side, diagram.id);
    return made;
  }

  /**
   * Whether `no` already says what `yes` does where the atom is true: a request to one path is not one to another. Only looks at the
   * last question about a field, because to walk through all of them would take longer than it saves.
   */
  #isAnsweredBy<Leaf>(atom: Atom, yes: Diagram<Leaf>, no: Diagram<Leaf>): boolean {
    if ('leaf' in no || no.atom.field !== atom.field || atom.kind === 'opaque') return false;
    if (no.yes !== yes && no.no !== yes) return false;
    if (asksAbout(no.yes, atom.field) || asksAbout(no.no, atom.field)) return false;
    return this.#implied(atom, true, no.atom) === (no.yes === yes);
  }

  /** What is true for a spelling of the path implies what is true for at least the same spellings. */
  #implied(one: Atom, value: boolean, other: Atom): boolean | null {
    if (one.kind !== 'opaque') return this.#relations.implied(one, value, other);
    if (other.kind !== 'opaque' || one.spelled === undefined || other.spelled === undefined) return null;
    const [narrow, wide] = value ? [one.spelled, other.spelled] : [other.spelled, one.spelled];
    return this.and(narrow, this.not(wide)) === this.false ? value : null;
  }

  atom(atom: Atom): Diagram<Truth> {
    return this.ask(atom, this.true, this.false);
  }

  /** One of three diagrams, by the result of a condition. */
  choose<Leaf>(
    condition: Diagram<Truth>,
    yes: Diagram<Leaf>,
    no: Diagram<Leaf>,
    error: Diagram<Leaf>,
  ): Diagram<Leaf> {
    if ('leaf' in condition) return { true: yes, false: no, error }[condition.leaf];
    if (yes === no && no === error) return yes;
    const done = this.#chosen.get(condition.id, yes.id, no.id, error.id);
    if (done !== undefined) return done;
    const top = topOf([condition, yes, no, error]);
    const half = (side: 'yes' | 'no'): Diagram<Leaf> =>
      this.choose(
        under(condition, top, side),
        under(yes, top, side),
        under(no, top, side),
        under(error, top, side),
      );
    const made = this.ask(top, half('yes'), half('no'));
    this.#chosen.set(made as Diagram<never>, condition.id, yes.id, no.id, error.id);
    return made;
  }

  /** `&&` of CEL: false outweighs errors. */
  and(one: Diagram<Truth>, other: Diagram<Truth>): Diagram<Truth> {
    return this.choose(one, other, this.false, this.choose(other, this.error, this.false, this.error));
  }

  /** `||` of CEL: true outweighs errors. */
  or(one: Diagram<Truth>, other: Diagram<Truth>): Diagram<Truth> {
    return this.choose(one, this.true, other, this.choose(other, this.true, this.error, this.error));
  }

  not(one: Diagram<Truth>): Diagram<Truth> {
    return this.choose(one, this.false, this.true, this.error);
  }

  /** Each leaf replaced; `key` identifies the result of `change`. */
  map<From, To>(
    diagram: Diagram<From>,
    change: (leaf: From) => { readonly leaf: To; readonly key: string },
  ): Diagram<To> {
    const done = new Map<number, Diagram<To>>();
    const walk = (node: Diagram<From>): Diagram<To> => {
      let made = done.get(node.id);
      if (made === undefined) {
        if ('leaf' in node) {
          const { leaf, key } = change(node.leaf);
          made = this.leaf(leaf, key);
        } else made = this.ask(node.atom, walk(node.yes), walk(node.no));
        done.set(node.id, made);
      }
      return made;
    };
    return walk(diagram);
  }

  #nextId(): number {
    if (this.#size >= this.#limit)
      throw new DiagramTooLarge(`the decision diagram would have more than ${grouped(this.#limit)} nodes`);
    return this.#size++;
  }
}

function known<Key, Leaf>(
  nodes: Map<Key, Diagram<never>>,
  key: Key,
  make: () => Diagram<Leaf>,
): Diagram<Leaf> {
  let node = nodes.get(key);
  if (node === undefined) nodes.set(key, (node = make() as Diagram<never>));
  return node;
}

/** The first atom that one of the diagrams asks. */
export function topOf(diagrams: readonly Diagram<unknown>[]): Atom {
  let top: Atom | null = null;
  for (const diagram of diagrams)
    if ('atom' in diagram && (top === null || diagram.atom.order < top.order)) top = diagram.atom;
  return top!;
}

/** What is left of a diagram when an atom, not after its first one, is known. */
export function under<Leaf>(diagram: Diagram<Leaf>, atom: Atom, side: 'yes' | 'no'): Diagram<Leaf> {
  return 'atom' in diagram && diagram.atom.order === atom.order ? diagram[side] : diagram;
}

function asksAbout(diagram: Diagram<unknown>, field: Field): boolean {
  return 'atom' in diagram && diagram.atom.field === field;
}

function isPlainOpaque(atom: Atom): boolean {
  return atom.kind === 'opaque' && atom.spelled === undefined;
}
