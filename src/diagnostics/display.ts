/** One code point as a terminal shows it: the printed text and its width in cells. */
export interface Glyph {
  readonly shown: string;
  readonly cells: number;
  /** UTF-16 offset of the code point in its source text. */
  readonly offset: number;
}

const TAB_CELLS = 4;
/** First and last code points of the blocks that terminals draw two cells wide (UAX 11, wide and fullwidth). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
];
/** Texts that are printed as they are, which nearly all are. */
const PLAIN = /^[ -~]*$/;

/**
 * The glyphs of a text. Control and bidirectional characters are made visible, so that a file cannot send
 * control sequences to the terminal.
 */
export function glyphsOf(text: string): Glyph[] {
  const glyphs: Glyph[] = [];
  let offset = 0;
  for (const character of text) {
    glyphs.push({ ...glyphOf(character), offset });
    offset += character.length;
  }
  return glyphs;
}

/** A text that is safe to print on a terminal, without control or bidirectional characters. */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  let shown = '';
  for (const character of text) shown += character === '\t' ? ' ' : glyphOf(character).shown;
  return shown;
}

// Patterns with classes of Unicode take long to make, and hardly any text needs them: they are made where they are used.

function isControl(character: string): boolean {
  return /^\p{Cc}$/u.test(character);
}

function isInvisible(character: string): boolean {
  return /^[\p{Mn}\p{Me}\p{Cf}\p{Cs}]$/u.test(character);
}

function glyphOf(character: string): { shown: string; cells: number } {
  const code = character.codePointAt(0)!;
  if (code >= 0x20 && code < 0x7f) return { shown: character, cells: 1 };
  if (character === '\t') return { shown: ' '.repeat(TAB_CELLS), cells: TAB_CELLS };
  // U+2400 to U+2421 are the control pictures.
  if (code < 0x20) return { shown: String.fromCodePoint(0x2400 + code), cells: 1 };
  if (code === 0x7f) return { shown: '\u2421', cells: 1 };
  if (isControl(character) || isBidirectional(code)) return { shown: '\ufffd', cells: 1 };
  if (isInvisible(character)) return { shown: character, cells: 0 };
  const wide = code >= 0x1100 && WIDE.some(([first, last]) => code >= first && code <= last);
  return { shown: character, cells: wide ? 2 : 1 };
}

function isBidirectional(code: number): boolean {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code === 0x061c;
}
