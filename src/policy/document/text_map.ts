import type { Span } from '../../diagnostics/diagnostic.ts';
import { unitsOf } from './scalar.ts';
import type { Units } from './scalar.ts';

/** A replacement of a stretch of the file. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

/** Where the parts of a decoded text stand in the file it was read from. Offsets are of UTF-16 units. */
export interface TextMap {
  /** The stretch of the file that makes a stretch of the text. */
  readonly spanOf: (span: Span) => Span;
  /** The change of the file that puts `text` in the place of a stretch of the text; null when there is none. */
  readonly edit: (span: Span, text: string) => Edit | null;
}

/** The map of a text that stands in a file as it is, beginning at `offset`. */
export function identityMap(offset = 0): TextMap {
  const spanOf = ({ start, end }: Span): Span => ({ start: start + offset, end: end + offset });
  return { spanOf, edit: (span, text) => ({ span: spanOf(span), text }) };
}

/** The map of a scalar's text, whose source (quotes and block header included) is the stretch `scalar` of `file`. */
export function scalarMap(file: string, scalar: Span, text: string): TextMap {
  let units: Units | undefined;
  let known = false;
  const read = (): Units | undefined => {
    if (!known) units = unitsOf(file, scalar, text);
    known = true;
    return units;
  };
  return {
    spanOf: (span) => {
      const parts = read();
      return parts === undefined ? scalar : stretch(parts, scalar, span);
    },
    edit: (span, replacement) => editScalar(read(), scalar, text, span, replacement),
  };
}

/** One map after another: a text in a text in a file. */
export function composed(inner: TextMap, outer: TextMap): TextMap {
  return {
    spanOf: (span) => outer.spanOf(inner.spanOf(span)),
    edit: (span, text) => {
      const edit = inner.edit(span, text);
      return edit === null ? null : outer.edit(edit.span, edit.text);
    },
  };
}

function stretch({ text, starts, ends }: Units, scalar: Span, { start, end }: Span): Span {
  if (text.length === 0) return scalar;
  const last = text.length - 1;
  if (start > last) return { start: ends[last]!, end: ends[last]! };
  const from = starts[Math.max(start, 0)]!;
  return end <= start ? { start: from, end: from } : { start: from, end: ends[Math.min(end - 1, last)]! };
}

function editScalar(
  units: Units | undefined,
  scalar: Span,
  text: string,
  span: Span,
  replacement: string,
): Edit | null {
  const whole = text.slice(0, span.start) + replacement + text.slice(span.end);
  const apart = units !== undefined && isApart(units, span);
  const written = apart ? rewritten(units, span, whole, replacement) : undefined;
  if (apart && written !== undefined) {
    return { span: stretch(units, scalar, span), text: written };
  }
  // Inside a block nothing but its own lines can stand; any other scalar can be written anew.
  if (units === undefined || units.style === 'literal' || units.style === 'folded') return null;
  return { span: scalar, text: quotedScalar(whole) };
}

/**
 * Whether a stretch has a piece of the file to itself: white space beside folded lines has not, nor has an empty
 * text, nor half of what one escape made.
 */
function isApart({ starts, text, isFolded }: Units, { start, end }: Span): boolean {
  const splits = (at: number): boolean => at > 0 && at < starts.length && starts[at] === starts[at - 1];
  return text !== '' && !isFolded && !splits(start) && !splits(end);
}

/** The replacement as the scalar's style writes it; undefined when the style cannot. */
function rewritten({ style, indent }: Units, span: Span, whole: string, text: string): string | undefined {
  switch (style) {
    case 'double':
      return JSON.stringify(text).slice(1, -1);
    case 'single':
      return /[\n\r]/.test(text) ? undefined : text.replaceAll("'", "''");
    case 'plain':
      return isPlain(whole) ? text : undefined;
    case 'literal':
      if (hasControls(text) || (span.start === 0 && /^\s/.test(text))) return undefined;
      return text.replaceAll('\n', `\n${' '.repeat(indent)}`);
    case 'folded':
      return text.includes('\n') || hasControls(text) || /^\s|\s$/.test(text) ? undefined : text;
  }
}

function hasControls(text: string): boolean {
  return /[^\P{Cc}\n\t]/u.test(text);
}

/** Whether a text may stand without quotes, judged narrowly: also between brackets, and never read as a number. */
function isPlain(text: string): boolean {
  return (
    /^[A-Za-z_/(.$][^\n\r\t,[\]{}#]*$/.test(text) &&
    !/: |:$| $|[^\P{Cc}\n]/u.test(text) &&
    !/^(?:null|true|false|\.inf|\.nan|[+-]?[\d.]+(?:e[+-]?\d+)?)$/i.test(text)
  );
}

/** A text as a scalar in quotes: double ones where single quotes stand in it and nothing needs an escape. */
export function quotedScalar(text: string): string {
  const plain = !/["\\]/.test(text);
  if (hasControls(text) || text.includes('\n') || (text.includes("'") && plain)) return JSON.stringify(text);
  return text.includes("'") && /["\\]/.test(text) ? JSON.stringify(text) : `'${text.replaceAll("'", "''")}'`;
}
