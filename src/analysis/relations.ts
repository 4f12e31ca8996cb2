import { ALL_ADDRESSES, type AddressSet, complement, intersection } from './addresses.ts';
import type { Atom } from './atoms.ts';
import { SENT_HOST, sentHosts } from './authority.ts';
import { domainOf } from './fields.ts';
import { parseAuthority } from '../http/host.ts';
import { beginningOf, isAccepted } from './texts/automaton.ts';
import { type FieldText, type TextAnswer, type TextLiteral, shortestText } from './texts/intersect.ts';

/** What an atom must be if another atom of its field is known; null if it may be either. */
export type Implied = boolean | null;

const PAIR_LIMIT = 4_000;
/** More than the id of any atom. */
const ATOM_SPACE = 2 ** 24;

/** Decides what atoms of the same field say about each other, each pair once. */
export class Relations {
  readonly #known = new Map<number, Implied>();
  readonly #examples = new Map<number, FieldText | null>();
  /** By the atom. */
  readonly #beginnings: (readonly number[])[] = [];

  /** The value of `other` where `one` has the given value. */
  implied(one: Atom, value: boolean, other: Atom): Implied {
    // Most conditions of a long policy are on different paths: these pairs are neither searched nor kept.
    if (value && one.kind === 'text' && other.kind === 'text' && this.#beginApart(one, other)) return false;
    const key = (2 * one.id + (value ? 1 : 0)) * ATOM_SPACE + other.id;
    let implied = this.#known.get(key);
    if (implied === undefined) {
      implied = this.#impliedBy(one, value, other);
      this.#known.set(key, implied);
    }
    return implied;
  }

  #impliedBy(one: Atom, value: boolean, other: Atom): Implied {
    if (!this.#meet(one, value, other, true)) return false;
    return this.#meet(one, value, other, false) ? null : true;
  }

  /** Whether two atoms of a field may have these values together. */
  #meet(one: Atom, value: boolean, other: Atom, wanted: boolean): boolean {
    if (one.kind === 'address' && other.kind === 'address')
      return intersection(sideOf(one.set, value), sideOf(other.set, wanted)).length > 0;
    if (one.kind !== 'text' || other.kind !== 'text') return true;
    // Examples answer most questions in far less time than a search.
    if (
      isExample(this.#exampleOf(one, value), other, wanted) ||
      isExample(this.#exampleOf(other, wanted), one, value)
    )
      return true;
    const sides = [
      { dfa: one.dfa, accepted: value },
      { dfa: other.dfa, accepted: wanted },
    ];
    return shortestText([domainOf(one.field.name), ...sides], PAIR_LIMIT) !== 'none';
  }

  /** Whether the texts of two atoms begin with different characters. */
  #beginApart(one: TextAtom, other: TextAtom): boolean {
    const own = (this.#beginnings[one.id] ??= beginningOf(one.dfa));
    const others = (this.#beginnings[other.id] ??= beginningOf(other.dfa));
    const common = Math.min(own.length, others.length);
    for (let at = 0; at < common; at++) if (own[at] !== others[at]) return true;
    return false;
  }

  /** What the field of an atom may be if the atom has a value; null if that is not known. */
  #exampleOf(atom: TextAtom, value: boolean): FieldText | null {
    const key = 2 * atom.id + (value ? 1 : 0);
    let example = this.#examples.get(key);
    if (example === undefined) {
      const found = shortestText([domainOf(atom.field.name), { dfa: atom.dfa, accepted: value }], PAIR_LIMIT);
      this.#examples.set(key, (example = typeof found === 'string' ? null : found));
    }
    return example;
  }
}

type TextAtom = Extract<Atom, { kind: 'text' }>;

function isExample(example: FieldText | null, { dfa }: TextAtom, value: boolean): boolean {
  if (example === null) return false;
  const { text, more } = example;
  return isAccepted(dfa, text === null ? undefined : [text, ...more]) === value;
}

function sideOf(set: AddressSet, inside: boolean): AddressSet {
  return inside ? set : complement(set);
}

/** Values of atoms, in ascending order of the atoms. */
export type Assignment = readonly { readonly atom: Atom; readonly value: boolean }[];

/** A request described by the values of its fields; null is an absent field. */
export interface Values {
  readonly texts: ReadonlyMap<string, string | null>;
  /** Further values of fields that have several. */
  readonly more: ReadonlyMap<string, readonly string[]>;
  readonly addresses: AddressSet;
}

/** `none`: no request has these values of the atoms. `unknown`: the search for one was given up. */
export type Satisfied = Values | 'none' | 'unknown';

/** Further sets that contain the texts of a field. */
export type Within = (field: string) => readonly TextLiteral[];

/** Finds requests with given values of atoms; what it finds for a field is kept. */
export class Solver {
  readonly #within: Within;
  readonly #texts = new Map<string, TextAnswer>();

  constructor(within: Within = () => []) {
    this.#within = within;
  }

  /** Values of all fields, host and path among them, for which the atoms have these values. */
  solve(assignment: Assignment): Satisfied {
    const addresses = addressesOf(assignment);
    if (addresses.length === 0) return 'none';
    const texts = new Map<string, string | null>();
    const more = new Map<string, readonly string[]>();
    let isUnknown = false;
    const fields = assignment.flatMap(({ atom }) => (atom.kind === 'text' ? [atom.field.name] : []));
    for (const field of new Set(['host', 'path', ...fields])) {
      const answer = this.text(field, assignment);
      if (answer === 'none') return 'none';
      if (answer === 'unknown') isUnknown = true;
      else {
        texts.set(field, answer.text);
        if (answer.more.length > 0) more.set(field, answer.more);
      }
    }
    const sent = texts.get(SENT_HOST);
    if (typeof sent === 'string') texts.set('host', parseAuthority(sent)?.host ?? '');
    return isUnknown ? 'unknown' : { texts, more, addresses };
  }

  /** Whether certainly no request has these values. */
  isImpossible(assignment: Assignment, { kind, field }: Atom): boolean {
    if (kind === 'opaque') return false;
    if (kind === 'address') return addressesOf(assignment).length === 0;
    return this.text(field.name, assignment) === 'none';
  }

  /** A text of one field. */
  text(field: string, assignment: Assignment): TextAnswer {
    const literals: TextLiteral[] = [];
    const hosts: TextLiteral[] = [];
    let key = field;
    for (const { atom, value } of assignment) {
      if (atom.kind !== 'text') continue;
      const isHost = field === SENT_HOST && atom.field.name === 'host';
      if (!isHost && atom.field.name !== field) continue;
      (isHost ? hosts : literals).push({ dfa: atom.dfa, accepted: value });
      key += ` ${value ? '' : '-'}${atom.order}`;
    }
    let answer = this.#texts.get(key);
    if (answer === undefined) {
      const within = field === SENT_HOST ? this.#sentHosts(hosts) : this.#within(field);
      answer = within === null ? 'unknown' : shortestText([...literals, domainOf(field), ...within]);
      this.#texts.set(key, answer);
    }
    return answer;
  }

  /** The hosts as sent that are one of the cell's; null if they are too many. */
  #sentHosts(hosts: readonly TextLiteral[]): readonly TextLiteral[] | null {
    const sent = sentHosts([...this.#within('host'), ...hosts]);
    return sent === null ? null : [sent];
  }
}

function addressesOf(assignment: Assignment): AddressSet {
  return assignment.reduce<AddressSet>(
    (addresses, { atom, value }) =>
      atom.kind === 'address' ? intersection(addresses, sideOf(atom.set, value)) : addresses,
    ALL_ADDRESSES,
  );
}
