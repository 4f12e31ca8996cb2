import type { Span } from '../../diagnostics/diagnostic.ts';
import { hasControls, quotedScalar } from '../../config_file/quoted_scalar.ts';
import { type Units, unitsOf } from './scalar.ts';

/** A replacement of a span of the file. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

/** Maps a decoded text to the file that it was read from. Offsets are in UTF-16 units. */
export interface TextMap {
  /** The span of the file for a span of the text. */
  readonly spanOf: (span: Span) => Span;
  /** The change of the file that replaces a span of the text; null if there is none. */
  readonly edit: (span: Span, text: string) => Edit | null;
}

/** The map of a text that is in a file verbatim, starting at `offset`. */
export function identityMap(offset = 0): TextMap {
  const spanOf = ({ start, end }: Span): Span => ({ start: start + offset, end: end + offset });
  return { spanOf, edit: (span, text) => ({ span: spanOf(span), text }) };
}

/** The map of a scalar's text; `scalar` is its span in `file`, quotes and block header included. */
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

/** Composes two maps: a text in a text in a file. */
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
  // A block can only contain its own lines; any other scalar can be rewritten.
  if (units === undefined || units.style === 'literal' || units.style === 'folded') return null;
  return { span: scalar, text: quotedScalar(whole) };
}

/**
 * Whether a span has its own part of the file: white space next to folded lines has not, nor has an empty span,
 * nor half of an escape.
 */
function isApart({ starts, text, isFolded }: Units, { start, end }: Span): boolean {
  const splits = (at: number): boolean => at > 0 && at < starts.length && starts[at] === starts[at - 1];
  return text !== '' && !isFolded && !splits(start) && !splits(end);
}

/** The replacement in the style of the scalar; undefined if the style does not allow it. */
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

/** Whether a text can be written without quotes, judged strictly: also inside brackets, and never as a number. */
function isPlain(text: string): boolean {
  return (
    /^[A-Za-z_/(.$][^\n\r\t,[\]{}#]*$/.test(text) &&
    !/: |:$| $|[^\P{Cc}\n]/u.test(text) &&
    !/^(?:null|true|false|\.inf|\.nan|[+-]?[\d.]+(?:e[+-]?\d+)?)$/i.test(text)
  );
}
