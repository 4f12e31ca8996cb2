import type { Pattern } from '../../regex/pattern.ts';

/**
 * Some patterns cannot make a backtracking engine slow: those without repetition, and anchored ones with a
 * single repetition of one item. V8 runs them ten times faster than a linear-time engine in JavaScript, with
 * the same results. Returns the test for such a pattern, or undefined if the pattern is not certainly one.
 *
 * Bound: from each start, at most `ways` × length steps; unanchored patterns have no unbounded repetition, so
 * the total is at most subject × MOST_STEPS.
 *
 * V8's `u` flag is not used, because it is wrong in Node 26.10 (`/[^a]$/u` does not find `𝒳`): every part
 * matches one UTF-16 unit, so a text with surrogates goes to `pattern` if a part could match half of a pair.
 */
export function quickTest(pattern: Pattern): ((text: string) => boolean) | undefined {
  const { source } = pattern;
  if (source.length > LONGEST) return undefined;
  const folds = source.startsWith('(?i)');
  const reader: Reader = { source, at: folds ? 4 : 0, folds, isOpen: false };
  const whole = alternatives(reader);
  if (whole === undefined || reader.at < source.length) return undefined;
  if (whole.ways * source.length > MAX_STEPS || (whole.repeats && !whole.anchored)) return undefined;
  const quick = new RegExp(whole.text);
  if (!reader.isOpen) return (text) => quick.test(text);
  return (text) => (SURROGATE.test(text) ? pattern.test(text) : quick.test(text));
}

const SURROGATE = /[\ud800-\udfff]/;

const LONGEST = 512;
const MAX_STEPS = 2_048;

interface Reader {
  readonly source: string;
  at: number;
  readonly folds: boolean;
  /** Whether a part matches characters that it does not list. */
  isOpen: boolean;
}

interface Part {
  readonly text: string;
  /** Upper bound of the number of paths through it. */
  readonly ways: number;
  /** Begins with `^` on every path. */
  readonly anchored: boolean;
  /** Contains an unbounded repetition. */
  readonly repeats: boolean;
}

function alternatives(reader: Reader): Part | undefined {
  const parts: Part[] = [];
  do {
    const part = sequence(reader);
    if (part === undefined) return undefined;
    parts.push(part);
  } while (skip(reader, '|'));
  return {
    text: parts.map((part) => part.text).join('|'),
    ways: parts.reduce((ways, part) => ways + part.ways, 0),
    anchored: parts.every((part) => part.anchored),
    repeats: parts.some((part) => part.repeats),
  };
}

function sequence(reader: Reader): Part | undefined {
  let text = '';
  let ways = 1;
  let anchored = false;
  let repeats = false;
  while (reader.at < reader.source.length && !/[|)]/.test(reader.source[reader.at]!)) {
    const part = reader.source[reader.at] === '(' ? group(reader) : single(reader);
    if (part === undefined || (repeats && part.repeats)) return undefined;
    if (text === '') ({ anchored } = part);
    text += part.text;
    ways *= part.ways;
    repeats ||= part.repeats;
  }
  return { text, ways, anchored, repeats };
}

function skip(reader: Reader, symbol: string): boolean {
  if (!reader.source.startsWith(symbol, reader.at)) return false;
  reader.at += symbol.length;
  return true;
}

/** A group for alternatives only: it is not repeated and contains no repetition. */
function group(reader: Reader): Part | undefined {
  reader.at += 1;
  if (reader.source[reader.at] === '?' && !skip(reader, '?:')) return undefined;
  const inner = alternatives(reader);
  if (
    inner === undefined ||
    inner.repeats ||
    !skip(reader, ')') ||
    QUANTIFIER.test(reader.source[reader.at] ?? '')
  ) {
    return undefined;
  }
  return { ...inner, text: `(?:${inner.text})` };
}

const QUANTIFIER = /[*+?{]/;

/** One character, class or anchor with its quantifier. */
function single(reader: Reader): Part | undefined {
  const { source, at } = reader;
  const character = source[at]!;
  if (character === '^' || character === '$') {
    reader.at += 1;
    if (QUANTIFIER.test(source[reader.at] ?? '')) return undefined;
    return { text: character, ways: 1, anchored: character === '^', repeats: false };
  }
  const text = atom(reader, character);
  return text === undefined ? undefined : repeated(reader, text);
}

function repeated(reader: Reader, text: string): Part | undefined {
  const once = { text, ways: 1, anchored: false, repeats: false };
  const mark = reader.source[reader.at] ?? '';
  if (!QUANTIFIER.test(mark)) return once;
  if (mark === '{') return undefined;
  reader.at += 1;
  // A second quantifier character makes it lazy, which does not change the result of a test, but it is rare and
  // not supported here.
  if (QUANTIFIER.test(reader.source[reader.at] ?? '')) return undefined;
  return mark === '?'
    ? { ...once, text: `${text}?`, ways: 2 }
    : { ...once, text: text + mark, repeats: true };
}

function atom(reader: Reader, character: string): string | undefined {
  if (character === '[') return characterClass(reader);
  if (character === '\\') return escape(reader);
  if (/[*+?{}\])]/.test(character)) return undefined;
  const code = character.charCodeAt(0);
  if (code > 126 && (reader.folds || (code & 0xf800) === 0xd800)) return undefined;
  reader.at += 1;
  if (character === '.') {
    reader.isOpen = true;
    // RE2's dot excludes only the newline; ECMAScript's excludes three more characters.
    return String.raw`[^\n]`;
  }
  if (reader.folds && /[A-Za-z]/.test(character)) return folded(character);
  return character === '/' ? String.raw`\/` : character;
}

/** Both cases, and the two non-ASCII letters that fold to ASCII (Unicode CaseFolding.txt). */
function folded(letter: string): string {
  const lower = letter.toLowerCase();
  const more = lower === 'k' ? '\u212a' : lower === 's' ? '\u017f' : '';
  return `[${lower}${letter.toUpperCase()}${more}]`;
}

/** Escaped punctuation, and ASCII classes if both dialects agree on them. */
function escape(reader: Reader): string | undefined {
  const letter = reader.source[reader.at + 1] ?? '';
  if (!/[dDwW.^$*+?()[\]{}|\\/]/.test(letter)) return undefined;
  if (reader.folds && /[wW]/.test(letter)) return undefined;
  if (/[DW]/.test(letter)) reader.isOpen = true;
  reader.at += 2;
  return `\\${letter}`;
}

const SIMPLE_CLASS = /\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9 _.,:;/@#%=!<>~"'`]|\\[dw.\-\]\\])+-?\]/y;

function characterClass(reader: Reader): string | undefined {
  SIMPLE_CLASS.lastIndex = reader.at;
  const found = SIMPLE_CLASS.exec(reader.source)?.[0];
  if (found === undefined || (reader.folds && /[A-Za-z]/.test(found.replaceAll(String.raw`\d`, ''))))
    return undefined;
  if (found.startsWith('[^')) reader.isOpen = true;
  reader.at += found.length;
  return found;
}
