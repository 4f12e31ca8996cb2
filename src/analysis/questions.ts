import { ATOMS_PER_FIELD, type Atom, type Decision, type Field } from './atoms.ts';

/** Atoms of one field, as bits by their places in it. */
type Bits = bigint;

/** What the value of an atom says about the others of its field, as far as it was asked. */
interface Known {
  answered: Bits;
  unanswered: Bits;
}

/**
 * Which atoms of the field of its first one each diagram asks. Most conditions, such as those on single paths, do not
 * answer each other: a diagram that asks hundreds of them need not be walked through to see that all of them stay.
 */
export class Questions {
  readonly #atoms = new Map<Field, Atom[]>();
  /** By the id of a diagram. */
  readonly #asked: Bits[] = [];
  /** By the atom and its value. */
  readonly #known = new Map<number, Known>();

  add({ id, atom, yes, no }: Decision<unknown>): void {
    let ofField = this.#atoms.get(atom.field);
    if (ofField === undefined) this.#atoms.set(atom.field, (ofField = []));
    const place = placeOf(atom);
    ofField[place] = atom;
    let asked = 1n << BigInt(place);
    for (const next of [yes, no])
      if ('atom' in next && next.atom.field === atom.field) asked |= this.#asked[next.id]!;
    this.#asked[id] = asked;
  }

  /** Whether an atom with a value answers a question of a diagram about the same field. */
  areAnswered(
    atom: Atom,
    value: boolean,
    diagram: Decision<unknown>,
    implied: (other: Atom) => boolean | null,
  ): boolean {
    const key = 2 * atom.id + (value ? 1 : 0);
    let known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, (known = { answered: 0n, unanswered: 0n }));
    const asked = this.#asked[diagram.id]!;
    if ((asked & known.answered) !== 0n) return true;
    for (let open = asked & ~known.unanswered; open !== 0n; open = asked & ~known.unanswered) {
      const place = open.toString(2).length - 1;
      const bit = 1n << BigInt(place);
      if (implied(this.#atoms.get(diagram.atom.field)![place]!) !== null) {
        known.answered |= bit;
        return true;
      }
      known.unanswered |= bit;
    }
    return false;
  }
}

function placeOf({ order }: Atom): number {
  return order % ATOMS_PER_FIELD;
}
