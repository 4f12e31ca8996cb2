/*
 * Lines of a log are alike: the same keys in the same order with different values. A form is a line of JSON
 * without its values. Lines of a known form are read by comparing the bytes between the values, which takes a
 * fraction of the time of a parser and skips unused values. All other lines go to JSON.parse.
 */

import {
  type FixedText,
  countIn,
  endOfCount,
  endOfText,
  fixedText,
  hasText,
  isTextAt,
  textIn,
} from './line_bytes.ts';
import { instantIn } from './line_instants.ts';
import { type Leaf, leavesOf } from './line_leaves.ts';

/** The values of a line by the indices of its leaves; valid until the next line is read. */
export interface LineValues {
  readonly text: (leaf: number) => string;
  readonly count: (leaf: number) => number;
  /** The time of a text, in ms since the epoch, as `Date.parse` reads it. */
  readonly instant: (leaf: number) => number;
  /** Whether a value has differed between lines of the form; all others are the same in each line that it fits. */
  readonly varies: (leaf: number) => boolean;
  /** How many values vary: if it is as before, the same ones do. */
  readonly varying: number;
}

/** Builds a result from the values of a line. */
export type Assemble<Made> = (values: LineValues) => Made;

export interface LineForms<Made> {
  /** Reads a line of these bytes. Null: no known form matches. A line that matches is valid JSON. */
  readonly read: (bytes: Buffer, from: number, to: number) => Made | null;
  /** Learns the form of a line, given the result of JSON.parse. */
  readonly learn: (line: string, value: unknown) => void;
}

/** Text that is the same in all lines of a form, and the value after it. */
interface Piece {
  readonly fixed: FixedText;
  readonly isText: boolean;
  readonly leaf: number;
}

/** More forms than the log of one edge has; lines of further forms are parsed. */
const FORMS_LIMIT = 256;
/** Maximum number of recently used forms that a line is compared with. */
const TRIED_LIMIT = 16;
/** Deeper than any event. */
const DEPTH_LIMIT = 32;

/**
 * A cache of forms. `assembleOf` returns the builder for lines like this one, or null if they have to be
 * parsed.
 */
export function lineForms<Made>(
  assembleOf: (leaves: readonly Leaf[], value: unknown) => Assemble<Made> | null,
): LineForms<Made> {
  const recent: Form<Made>[] = [];
  const byTexts = new Map<string, Form<Made> | null>();
  let seen: Buffer | null = null;
  let view: DataView = new DataView(new ArrayBuffer(0));

  return {
    read: (bytes, from, to) => {
      if (seen !== bytes) {
        seen = bytes;
        view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      }
      const tried = Math.min(recent.length, TRIED_LIMIT);
      for (let index = 0; index < tried; index++) {
        const form = recent[index]!;
        if (!form.fits(bytes, view, from, to)) continue;
        if (index > 0) toFront(recent, index);
        return form.assemble(form);
      }
      return null;
    },
    learn: (line, value) => {
      if (line.includes('\\') || !isShallow(value, DEPTH_LIMIT)) return;
      const { leaves, texts, values } = leavesOf(line);
      const key = JSON.stringify([texts, leaves.map(({ kind }) => kind)]);
      let form = byTexts.get(key);
      if (form === undefined) {
        if (byTexts.size >= FORMS_LIMIT) return;
        const isPlain = new Set(leaves.map(({ path }) => path)).size === leaves.length;
        const assemble = isPlain ? assembleOf(leaves, value) : null;
        form = assemble && new Form(leaves, texts, values, assemble);
        byTexts.set(key, form);
        if (form !== null) recent.unshift(form);
        return;
      }
      if (form === null) return;
      toFront(recent, recent.indexOf(form));
      form.widen(values);
    },
  };
}

function toFront(list: unknown[], index: number): void {
  const moved = list[index];
  for (let at = index; at > 0; at--) list[at] = list[at - 1]!;
  list[0] = moved;
}

class Form<Made> implements LineValues {
  readonly assemble: Assemble<Made>;
  readonly #leaves: readonly Leaf[];
  /** The texts before each leaf, and after the last one. */
  readonly #texts: readonly string[];
  /** Values of the first line; those that never differed are part of the text. */
  readonly #values: readonly string[];
  readonly #varies: boolean[];
  varying = 0;
  /** The last text of each leaf: many repeat. */
  readonly #last: string[];
  #pieces: readonly Piece[] = [];
  #end: FixedText;
  /** The last line that fitted, and where its values begin and end. */
  #bytes: Buffer = Buffer.alloc(0);
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;

  constructor(
    leaves: readonly Leaf[],
    texts: readonly string[],
    values: readonly string[],
    assemble: Assemble<Made>,
  ) {
    this.assemble = assemble;
    this.#leaves = leaves;
    this.#texts = texts;
    this.#values = values;
    this.#varies = leaves.map(() => false);
    this.#last = leaves.map(() => '');
    this.#starts = new Int32Array(leaves.length);
    this.#ends = new Int32Array(leaves.length);
    this.#end = this.#cut();
  }

  text(leaf: number): string {
    if (!this.#varies[leaf]!) return this.#values[leaf]!;
    const start = this.#starts[leaf]!;
    const end = this.#ends[leaf]!;
    const last = this.#last[leaf]!;
    if (isTextAt(this.#bytes, start, end, last)) return last;
    return (this.#last[leaf] = textIn(this.#bytes, start, end));
  }

  varies(leaf: number): boolean {
    return this.#varies[leaf]!;
  }

  count(leaf: number): number {
    return this.#varies[leaf]!
      ? countIn(this.#bytes, this.#starts[leaf]!, this.#ends[leaf]!)
      : Number(this.#values[leaf]);
  }

  instant(leaf: number): number {
    return this.#varies[leaf]!
      ? instantIn(this.#bytes, this.#starts[leaf]!, this.#ends[leaf]!)
      : Date.parse(this.#values[leaf]!);
  }

  /** Whether a line has this form; if so, its values can be read. */
  fits(bytes: Buffer, view: DataView, from: number, to: number): boolean {
    const pieces = this.#pieces;
    let at = from;
    for (let index = 0; index < pieces.length; index++) {
      const { fixed, isText, leaf } = pieces[index]!;
      const start = at + fixed.length;
      if (start > to || !hasText(view, at, fixed)) return false;
      at = isText ? endOfText(bytes, start, to) : endOfCount(bytes, start, to);
      if (at < 0) return false;
      this.#starts[leaf] = start;
      this.#ends[leaf] = at;
    }
    this.#bytes = bytes;
    return at + this.#end.length === to && hasText(view, at, this.#end);
  }

  /** Takes the values of another line of this form. */
  widen(values: readonly string[]): void {
    for (const [leaf, value] of values.entries()) if (value !== this.#values[leaf]) this.#varies[leaf] = true;
    this.varying = this.#varies.filter(Boolean).length;
    this.#end = this.#cut();
  }

  /** Merges values that never differed into the texts around them; returns the text at the end. */
  #cut(): FixedText {
    const pieces: Piece[] = [];
    let text = '';
    for (const [leaf, { kind }] of this.#leaves.entries()) {
      text += this.#texts[leaf]!;
      if (this.#varies[leaf] === true) {
        pieces.push({ fixed: fixedText(text), isText: kind === 'text', leaf });
        text = '';
      } else text += this.#values[leaf]!;
    }
    this.#pieces = pieces;
    return fixedText(text + this.#texts[this.#leaves.length]!);
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}
