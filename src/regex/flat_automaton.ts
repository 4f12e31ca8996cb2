import { type LibraryAutomaton, type LibraryState, startOf } from './program.ts';

const FIRST_ENTRIES = 256;
const ASCII = 128;
const UNKNOWN = 0;
const END_OF_TEXT = -1;

/**
 * A table of the transitions that searches with the library's automaton have taken. A character of a text costs two
 * look-ups in arrays here, and about three times as much in the library. Other characters than those of ASCII are left to
 * the library.
 */
export class FlatAutomaton {
  readonly #library: LibraryAutomaton;
  readonly #limit: number;
  /** The class of each ASCII character: those of a class have the same transitions. */
  readonly #classOf = new Uint8Array(ASCII);
  /** Entries of a row: a state's transitions for each class. */
  readonly #width: number;
  /** The row after a character: negative if a pattern matches there, `UNKNOWN` if nothing has asked yet. */
  #next = new Int32Array(FIRST_ENTRIES);
  /** States by the number of their row; there is no row 0. */
  #states: (LibraryState | null)[] = [null];
  #rows = new Map<LibraryState, number>();

  /** `limit` is the size of a full table, in entries of four bytes. */
  constructor(library: LibraryAutomaton, limit: number) {
    this.#library = library;
    this.#limit = limit;
    const classes = Array.from({ length: ASCII }, (_, unit) => library.runeClass(unit));
    const distinct = Array.from(new Set(classes));
    for (const [unit, kind] of classes.entries()) this.#classOf[unit] = distinct.indexOf(kind);
    this.#width = distinct.length;
  }

  /**
   * The lowest number of a pattern that occurs in the subject, or -1. Null if this takes more states than there is room
   * for; the next search begins with an empty table.
   */
  first(subject: string): number | null {
    const classOf = this.#classOf;
    const { length } = subject;
    const state = startOf(this.#library);
    let row = state === null ? UNKNOWN : Math.abs(this.#rowOf(state));
    let next = this.#next;
    let lowest = Infinity;
    for (let at = 0; row !== UNKNOWN && at <= length;) {
      // Nearly all characters end here: ASCII, by a known transition to a row without a match.
      for (; at < length; at++) {
        const unit = subject.charCodeAt(at);
        if (unit >= ASCII) break;
        const to = next[row + classOf[unit]!]!;
        if (to <= UNKNOWN) break;
        row = to;
      }
      const point = at < length ? subject.codePointAt(at)! : END_OF_TEXT;
      at += point > 0xffff ? 2 : 1;
      row = this.#after(row, point);
      next = this.#next;
      if (row >= UNKNOWN) continue;
      row = -row;
      lowest = Math.min(lowest, this.#stateOf(row).matchIDs[0]!);
      if (lowest === 0) return 0;
    }
    if (row === UNKNOWN) {
      this.#clear();
      return null;
    }
    return lowest === Infinity ? -1 : lowest;
  }

  #stateOf(row: number): LibraryState {
    return this.#states[row / this.#width]!;
  }

  /** The row after a code point or at the end; `UNKNOWN` if there is no room. */
  #after(row: number, point: number): number {
    const isKept = point >= 0 && point < ASCII;
    const entry = isKept ? row + this.#classOf[point]! : 0;
    if (isKept && this.#next[entry] !== UNKNOWN) return this.#next[entry]!;
    const library = this.#library;
    const kind = point === END_OF_TEXT ? library.numClasses : library.runeClass(point);
    const state = library.step(this.#stateOf(row), kind, point, 0);
    const next = state === null ? UNKNOWN : this.#rowOf(state);
    if (isKept && next !== UNKNOWN) this.#next[entry] = next;
    return next;
  }

  /** The row of a state, negative if a pattern matches there; `UNKNOWN` if there is no room for another one. */
  #rowOf(state: LibraryState): number {
    const known = this.#rows.get(state);
    if (known !== undefined) return known;
    const row = this.#states.length * this.#width;
    const end = row + this.#width;
    if (end > this.#limit) return UNKNOWN;
    if (end > this.#next.length) {
      const larger = new Int32Array(Math.max(2 * this.#next.length, end));
      larger.set(this.#next);
      this.#next = larger;
    }
    const signed = state.isMatch ? -row : row;
    this.#states.push(state);
    this.#rows.set(state, signed);
    return signed;
  }

  #clear(): void {
    this.#next = new Int32Array(FIRST_ENTRIES);
    this.#states = [null];
    this.#rows = new Map();
  }
}
