/*
 * Lines of a log are alike: the same keys in the same order with different values. A form is a line of JSON
 * without its values. Lines of a known form are read by comparing the text between the values, which takes a
 * fraction of the time of a parser and skips unused values. All other lines go to JSON.parse.
 */

/** A value of a line, in text order. */
export interface Leaf {
  /** Keys and indices from the root, joined by line breaks, which no key contains. */
  readonly path: string;
  readonly kind: 'text' | 'count';
}

/** Builds a result from the raw values of a line; they are valid until the next line is read. */
export type Assemble<Made> = (values: readonly string[]) => Made;

export interface LineForms<Made> {
  /** Null: no known form matches. A line that matches is valid JSON. */
  readonly read: (line: string) => Made | null;
  /** Learns the form of a line, given the result of JSON.parse. */
  readonly learn: (line: string, value: unknown) => void;
}

/** Text that is the same in all lines of a form, and the index of the value after it. */
interface Piece {
  readonly text: string;
  readonly kind: Leaf['kind'];
  /** Index of the value. */
  readonly leaf: number;
}

interface Form<Made> {
  readonly leaves: readonly Leaf[];
  /** The texts before each leaf, and after the last one. */
  readonly texts: readonly string[];
  /** Values of the previous line; those that never differed are part of the text. */
  readonly values: string[];
  readonly varies: boolean[];
  readonly assemble: Assemble<Made>;
  pieces: readonly Piece[];
  end: string;
}

/** More forms than the log of one edge has; lines of further forms are parsed. */
const FORMS_LIMIT = 256;
/** Maximum number of recently used forms that a line is compared with. */
const TRIED_LIMIT = 16;
const ZERO = 48;
const NINE = 57;
const FIRST_PRINTABLE = 32;
/** Integers of up to this many digits are exact. */
const DIGITS_LIMIT = 15;
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

  return {
    read: (line) => {
      // With escapes, a quote might not end a string.
      if (line.includes('\\')) return null;
      const tried = Math.min(recent.length, TRIED_LIMIT);
      for (let index = 0; index < tried; index++) {
        const form = recent[index]!;
        if (!fits(form, line)) continue;
        if (index > 0) toFront(recent, index);
        return form.assemble(form.values);
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
        const varies = leaves.map(() => false);
        form = assemble && { leaves, texts, values, varies, assemble, pieces: [], end: line };
        byTexts.set(key, form);
        if (form !== null) recent.unshift(form);
        return;
      }
      if (form === null) return;
      toFront(recent, recent.indexOf(form));
      for (const [index, given] of values.entries())
        if (given !== form.values[index]) form.varies[index] = true;
      cut(form);
    },
  };
}

function toFront(list: unknown[], index: number): void {
  list.unshift(...list.splice(index, 1));
}

/** Merges values that never differed into the surrounding texts. */
function cut(form: Form<unknown>): void {
  const { leaves, texts, values, varies } = form;
  const pieces: Piece[] = [];
  let text = '';
  for (const [leaf, { kind }] of leaves.entries()) {
    text += texts[leaf]!;
    if (varies[leaf] === true) {
      pieces.push({ text: detached(text), kind, leaf });
      text = '';
    } else text += values[leaf]!;
  }
  form.pieces = pieces;
  form.end = detached(text + texts[leaves.length]!);
}

/** Whether a line has this form; if so, its values are stored in the form. */
function fits({ pieces, values, end }: Form<unknown>, line: string): boolean {
  let at = 0;
  for (let index = 0; index < pieces.length; index++) {
    const { text, kind, leaf } = pieces[index]!;
    const from = at + text.length;
    // Comparing slices compares memory; `startsWith` compares character by character.
    if (line.slice(at, from) !== text) return false;
    at = kind === 'text' ? endOfText(line, from) : endOfCount(line, from);
    if (at < 0) return false;
    values[leaf] = detached(line.slice(from, at));
  }
  return line.slice(at) === end;
}

/** V8 keeps the parent string alive for a substring: values that outlive their line must not hold on to the log. */
function detached(text: string): string {
  return ` ${text}`.slice(1);
}

/** Whether the character ends an integer, because it starts neither a fraction nor an exponent. */
function endsNumber(code: number): boolean {
  return code === 44 || code === 125 || code === 93;
}

/** End of a string; -1 if it is unterminated or has characters that must be escaped. */
function endOfText(line: string, from: number): number {
  const end = line.indexOf('"', from);
  for (let at = from; at < end; at++) if (line.charCodeAt(at) < FIRST_PRINTABLE) return -1;
  return end;
}

/** End of an integer; -1 if it is not an integer. */
function endOfCount(line: string, from: number): number {
  let at = from;
  while (line.charCodeAt(at) >= ZERO && line.charCodeAt(at) <= NINE) at++;
  const digits = at - from;
  const isPlain = digits === 1 || (digits > 1 && digits <= DIGITS_LIMIT && line.charCodeAt(from) !== ZERO);
  return isPlain && endsNumber(line.charCodeAt(at)) ? at : -1;
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

/** The values of a line of valid JSON without escapes, and the texts between them. */
function leavesOf(line: string): { leaves: Leaf[]; texts: string[]; values: string[] } {
  const leaves: Leaf[] = [];
  const texts: string[] = [];
  const values: string[] = [];
  let at = 0;
  let from = 0;
  const blank = (): void => {
    while (/\s/.test(line[at] ?? '')) at++;
  };
  const found = (kind: Leaf['kind'], path: string, begin: number, end: number): void => {
    leaves.push({ path, kind });
    texts.push(detached(line.slice(from, begin)));
    values.push(detached(line.slice(begin, end)));
    from = end;
  };
  const value = (path: string): void => {
    blank();
    const first = line[at];
    if (first === '{' || first === '[') members(path, first === '{');
    else if (first === '"') {
      const end = line.indexOf('"', at + 1);
      found('text', path, at + 1, end);
      at = end + 1;
    } else {
      const [token] = /^[^\s,\]}]+/.exec(line.slice(at))!;
      const end = endOfCount(line, at);
      if (end === at + token.length) found('count', path, at, end);
      at += token.length;
    }
  };
  const members = (path: string, isObject: boolean): void => {
    at++;
    for (let index = 0; ; index++) {
      blank();
      if (line[at] === '}' || line[at] === ']') break;
      if (line[at] === ',') at++;
      blank();
      let key = String(index);
      if (isObject) {
        const end = line.indexOf('"', at + 1);
        key = line.slice(at + 1, end);
        at = line.indexOf(':', end) + 1;
      }
      value(path === '' ? key : `${path}\n${key}`);
    }
    at++;
  };
  value('');
  texts.push(detached(line.slice(from)));
  return { leaves, texts, values };
}
