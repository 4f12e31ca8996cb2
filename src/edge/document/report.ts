import type { Diagnostic, Fix, Severity, Span } from '../../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../../diagnostics/lines.ts';
import type { Lines } from '../../diagnostics/lines.ts';
import { EDGE_CODES } from './codes.ts';
import type { EdgeCode } from './codes.ts';
import type { EdgeDocument } from './document.ts';

/** What else there is to say of a finding. */
export interface More {
  readonly hint?: string | undefined;
  readonly notes?: readonly string[];
  /** Pointer of the first of two things of which this is the second. */
  readonly first?: string | undefined;
  /** Marks the key of the pointer instead of its value. */
  readonly at?: 'key' | 'value';
  /** Marks this stretch instead. */
  readonly span?: Span | undefined;
  /** A new text for what is marked; quotes are kept. */
  readonly fix?: { readonly says: string; readonly text: string; readonly safe: boolean } | undefined;
}

/** Collects findings about a document: one call for each. */
export type Report<Code extends string = EdgeCode> = (
  code: Code,
  pointer: string,
  says: string,
  more?: More,
) => void;

/** A report that appends to `list`, with spans where the document has a source. */
export function reportTo(list: Diagnostic[], document: EdgeDocument): Report {
  return reportWith(list, document, (code) => EDGE_CODES[code].severity);
}

/** A report with codes of another kind of file. */
export function reportWith<Code extends string>(
  list: Diagnostic[],
  document: EdgeDocument,
  severityOf: (code: Code) => Severity,
): Report<Code> {
  const { source } = document;
  let lines: Lines | undefined;
  const placeOf = (pointer: string): string => {
    const span = document.keySpanOf(pointer) ?? document.spanOf(pointer);
    if (source === undefined || span === undefined) return pointer;
    return `line ${positionAt((lines ??= linesOf(source.text)), span.start).line}`;
  };
  return (code, pointer, says, more = {}) => {
    const span = source && (more.span ?? spanFor(document, pointer, more.at ?? 'value'));
    const notes = [
      ...(more.first === undefined ? [] : [`the first stands at ${placeOf(more.first)}`]),
      ...(more.notes ?? []),
    ];
    const fix = source && span && more.fix && fixFor(source.text, span, more.fix);
    list.push({
      code,
      severity: severityOf(code),
      says,
      pointer,
      ...(source && { source }),
      ...(span && { span }),
      ...(more.hint !== undefined && { hint: more.hint }),
      ...(notes.length > 0 && { notes }),
      ...(fix && { fix }),
    });
  };
}

/** The stretch to mark: the key or value itself, or else of the nearest place around it that has one. */
function spanFor(document: EdgeDocument, pointer: string, at: 'key' | 'value'): Span {
  let place = pointer;
  let [span, other] = [document.spanOf(place), document.keySpanOf(place)];
  if (at === 'key') [span, other] = [other, span];
  while (isEmpty(span) && isEmpty(other) && place !== '') {
    place = place.slice(0, place.lastIndexOf('/'));
    [span, other] = [document.keySpanOf(place), document.spanOf(place)];
  }
  return (isEmpty(span) ? other : span) ?? span ?? { start: 0, end: 0 };
}

function isEmpty(span: Span | undefined): boolean {
  return span === undefined || span.start === span.end;
}

function fixFor(source: string, span: Span, { says, text: wanted, safe }: NonNullable<More['fix']>): Fix {
  const quote = source[span.start];
  const text = quote === '"' || quote === "'" ? `${quote}${wanted}${quote}` : wanted;
  return { says, span, text, safe };
}

/** Shows a value in a sentence: short, quoted as it would be written. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

const SHOWN_LIMIT = 60;

/** A text in single quotes, cut if it is long. */
export function quoted(text: string): string {
  const characters = Array.from(text.slice(0, SHOWN_LIMIT * 2));
  if (characters.length <= SHOWN_LIMIT && text.length <= SHOWN_LIMIT * 2) return `'${text}'`;
  return `'${characters.slice(0, SHOWN_LIMIT).join('')}…'`;
}

/** `did you mean 'x'?`, where there is such an x. */
export function didYouMean(word: string | undefined): string | undefined {
  return word === undefined ? undefined : `did you mean ${quoted(word)}?`;
}

const LISTED_LIMIT = 20;

/** Names in one line, at most twenty of them. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length - LISTED_LIMIT;
  return names.slice(0, LISTED_LIMIT).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
