import { type Dfa } from './texts/automaton.ts';
import type { AddressSet } from './addresses.ts';

/**
 * A condition on a request that is true or false. Text and address atoms say exactly for which values of one field;
 * an opaque atom is known by its name only, and may go either way. One with `spelled` is true if that condition is true for
 * some spelling of the path.
 */
export type Atom = { readonly id: number; readonly order: number; readonly field: Field } & (
  | { readonly kind: 'text'; readonly dfa: Dfa; readonly message: string }
  | { readonly kind: 'address'; readonly set: AddressSet; readonly message: string }
  | { readonly kind: 'opaque'; readonly message: string; readonly spelled?: Diagram<Truth> }
);

/**
 * A decision diagram: it asks atoms in ascending order and ends in a leaf. Equal diagrams of one builder are the same
 * object, so that comparing two configurations mostly means comparing references.
 */
export type Diagram<Leaf> =
  | Decision<Leaf>
  | { readonly id: number; readonly leaf: Leaf; readonly key: string };

export interface Decision<Leaf> {
  readonly id: number;
  readonly atom: Atom;
  readonly yes: Diagram<Leaf>;
  readonly no: Diagram<Leaf>;
}

/** Result of an expression: CEL's bool, or an error, which is a value of its own. */
export type Truth = 'true' | 'false' | 'error';

/** Atoms of one field are neighbours in diagrams. */
export interface Field {
  readonly name: string;
  readonly rank: number;
}

/** Order of the fields that most rules read; others follow in the order in which they are met. */
const FIRST_FIELDS = ['path', 'client address', 'method', 'host'];
/** More atoms of a field would get the order of the next field. */
export const ATOMS_PER_FIELD = 100_000;

/** All atoms of an analysis: equal conditions are one atom. */
export class Atoms {
  readonly #atoms = new Map<string, Atom>();
  readonly #fields = new Map<string, { readonly field: Field; count: number }>();

  constructor() {
    for (const name of FIRST_FIELDS) this.#field(name);
  }

  text(field: string, dfa: Dfa, message: string): Atom {
    return this.#atom(field, `text ${dfa.key}`, { kind: 'text', dfa, message });
  }

  address(field: string, set: AddressSet, message: string): Atom {
    return this.#atom(field, `address ${set.join()}`, { kind: 'address', set, message });
  }

  /** `key` identifies the condition: equal keys are the same function of the request and the world. */
  opaque(key: string, message: string): Atom {
    return this.#atom('world', `opaque ${key}`, { kind: 'opaque', message });
  }

  /** Whether a condition is true for some spelling of the path. */
  spelling(condition: Diagram<Truth>, message: string): Atom {
    return this.#atom('world', `spelling ${condition.id}`, { kind: 'opaque', message, spelled: condition });
  }

  #atom(name: string, key: string, rest: DistributedOmit<Atom, 'id' | 'order' | 'field'>): Atom {
    const whole = `${name} ${key}`;
    let atom = this.#atoms.get(whole);
    if (atom === undefined) {
      const entry = this.#field(name);
      if (entry.count >= ATOMS_PER_FIELD) throw new TooManyAtoms();
      const order = entry.field.rank * ATOMS_PER_FIELD + entry.count++;
      atom = { ...rest, id: this.#atoms.size, order, field: entry.field };
      this.#atoms.set(whole, atom);
    }
    return atom;
  }

  #field(name: string): { readonly field: Field; count: number } {
    let entry = this.#fields.get(name);
    if (entry === undefined) {
      // Opaque atoms come last, so that exact fields decide first.
      const rank = name === 'world' ? 1_000_000 : this.#fields.size;
      entry = { field: { name, rank }, count: 0 };
      this.#fields.set(name, entry);
    }
    return entry;
  }
}

type DistributedOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

class TooManyAtoms extends Error {
  override readonly name = 'TooManyAtoms';

  constructor() {
    super('the configurations have too many different conditions on one field');
  }
}
