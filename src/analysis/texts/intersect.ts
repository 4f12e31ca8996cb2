import { ABSENT, type Dfa, SEPARATOR, rangeOf } from './automaton.ts';

/** Texts that an automaton accepts, or those that it refuses. */
export interface TextLiteral {
  readonly dfa: Dfa;
  readonly accepted: boolean;
}

/** `none` is certain; `unknown` means that the search was given up. */
export type TextAnswer = FieldText | 'none' | 'unknown';

/** What a field has: no value (null), or one, and sometimes further ones. */
export interface FieldText {
  readonly text: string | null;
  readonly more: readonly string[];
}

/** Maximum number of states of a product that are visited. */
const PRODUCT_LIMIT = 20_000;

/** With more sets, most refuse nothing that the others accept. */
const FEW = 4;

/** A shortest text in all of the sets. */
export function shortestText(literals: readonly TextLiteral[], limit = PRODUCT_LIMIT): TextAnswer {
  const found = literals.length > FEW ? inSomeThenAll(literals, limit) : inAll(literals, limit);
  return typeof found === 'string' ? found : textOf(found);
}

/** The characters of a text. */
type Found = readonly number[] | 'none' | 'unknown';

/** Searches in the first set only, then with those that refuse the text that was found, until none does. */
function inSomeThenAll(literals: readonly TextLiteral[], limit: number): Found {
  const asked = new Set(literals.slice(0, 1));
  for (;;) {
    const found = inAll([...asked], limit);
    if (found === 'unknown') return inAll(literals, limit);
    if (found === 'none') return found;
    const refusing = literals.filter((literal) => !contains(literal, found));
    if (refusing.length === 0) return found;
    for (const literal of refusing) asked.add(literal);
  }
}

function contains({ dfa, accepted }: TextLiteral, points: readonly number[]): boolean {
  let state = 0;
  for (const point of points) state = dfa.next[state * dfa.starts.length + rangeOf(dfa.starts, point)]!;
  return (dfa.accepts[state] === 1) === accepted;
}

/** Breadth first over the product of the sets, without building it. */
function inAll(literals: readonly TextLiteral[], limit: number): Found {
  const points = representatives(literals);
  const steps = points.map((point) => literals.map(({ dfa }) => rangeOf(dfa.starts, point)));
  const product = new Product(literals);
  /** Most steps lead to known states, so that only new ones are copied. */
  const next = literals.map(() => 0);
  const first = literals.map(() => 0);
  if (!product.isHopeful(first)) return 'none';
  // A queue of states, and for each how it was reached: the place of the state before it, and the character.
  const queue: (readonly number[])[] = [first];
  const from = [-1];
  const by = [-1];
  const seen = new Set([product.keyOf(first)]);
  for (let at = 0; at < queue.length; at++) {
    const states = queue[at]!;
    if (product.isAccepted(states)) return wayTo(at, from, by);
    for (let index = 0; index < steps.length; index++) {
      product.step(states, steps[index]!, next);
      const key = product.keyOf(next);
      if (seen.has(key)) continue;
      seen.add(key);
      if (!product.isHopeful(next)) continue;
      from.push(at);
      by.push(points[index]!);
      if (queue.push([...next]) > limit) return 'unknown';
    }
  }
  return 'none';
}

function wayTo(end: number, from: readonly number[], by: readonly number[]): readonly number[] {
  const points: number[] = [];
  for (let at = end; from[at]! >= 0; at = from[at]!) points.push(by[at]!);
  return points.toReversed();
}

/** The automata of several sets, running side by side. */
class Product {
  readonly #literals: readonly TextLiteral[];
  /** Whether one number can name a state of the product. */
  readonly #isSmall: boolean;

  constructor(literals: readonly TextLiteral[]) {
    this.#literals = literals;
    this.#isSmall =
      literals.reduce((size, { dfa }) => size * dfa.accepts.length, 1) < Number.MAX_SAFE_INTEGER;
  }

  keyOf(states: readonly number[]): number | string {
    if (!this.#isSmall) return states.join();
    let key = 0;
    for (let at = 0; at < states.length; at++)
      key = key * this.#literals[at]!.dfa.accepts.length + states[at]!;
    return key;
  }

  /** Writes the states after a character to `next`. */
  step(states: readonly number[], ranges: readonly number[], next: number[]): void {
    for (let at = 0; at < states.length; at++) {
      const { dfa } = this.#literals[at]!;
      next[at] = dfa.next[states[at]! * dfa.starts.length + ranges[at]!]!;
    }
  }

  isAccepted(states: readonly number[]): boolean {
    for (let at = 0; at < states.length; at++) {
      const { dfa, accepted } = this.#literals[at]!;
      if ((dfa.accepts[states[at]!] === 1) !== accepted) return false;
    }
    return true;
  }

  /** Whether each set alone can still be reached. */
  isHopeful(states: readonly number[]): boolean {
    for (let at = 0; at < states.length; at++) {
      const { dfa, accepted } = this.#literals[at]!;
      if ((accepted ? dfa.canAccept : dfa.canRefuse)[states[at]!] === 0) return false;
    }
    return true;
  }
}

/** Characters that people write come first, as representatives of a range and in the search. */
const NICE = Array.from(
  'axbcdefghijklmnopqrstuvwyz0123456789/-._GETPOSDLUHABCFIJKMNQRVWXYZ~!$()*+,;=:@',
  (c) => c.codePointAt(0)!,
);
/** Their places in that order, by code point. */
const NICE_BY_POINT = Array.from(NICE.keys()).sort((one, other) => NICE[one]! - NICE[other]!);

/** One code point of each range that the automata distinguish together. */
function representatives(literals: readonly TextLiteral[]): number[] {
  // Typed arrays are sorted without a call for each pair.
  const sorted = Int32Array.from(literals.flatMap(({ dfa }) => dfa.starts)).sort();
  const starts = [0];
  for (const start of sorted) if (start !== starts.at(-1)) starts.push(start);
  /** The nicest of each range. */
  const nicest: (number | undefined)[] = [];
  let range = 0;
  for (const place of NICE_BY_POINT) {
    while (range + 1 < starts.length && starts[range + 1]! <= NICE[place]!) range++;
    nicest[range] = Math.min(nicest[range] ?? place, place);
  }
  const chosen = nicest.filter((place) => place !== undefined).sort((one, other) => one - other);
  const others = starts.filter((_, at) => nicest[at] === undefined);
  return [...chosen.map((place) => NICE[place]!), ...others.map(printableFrom)];
}

/** Half of a surrogate pair is not a character. */
function printableFrom(start: number): number {
  return start >= 0xd800 && start <= 0xdfff ? 0xe000 : start;
}

function textOf(points: readonly number[]): FieldText {
  if (points.includes(ABSENT)) return { text: null, more: [] };
  const values: number[][] = [[]];
  for (const point of points) {
    if (point === SEPARATOR) values.push([]);
    else values.at(-1)!.push(point);
  }
  const [text, ...more] = values.map((value) => String.fromCodePoint(...value));
  return { text: text!, more };
}
