import type { Diagnostic, Fix, Severity, Span } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';
import type { Lines } from '../diagnostics/lines.ts';
import type { LocatedDocument } from './document.ts';

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
export type Report<Code extends string> = (code: Code, pointer: string, says: string, more?: More) => void;

/** A report of errors that appends to `list`, each code with the prefix of the kind of file before it. */
export function errorsTo<Code extends string>(
  list: Diagnostic[],
  document: LocatedDocument,
  prefix: string,
): Report<Code> {
  const report = reportWith<string>(list, document, () => 'error');
  return (code, pointer, says, more) => report(`${prefix}.${code}`, pointer, says, more);
}

/** A report that appends to `list`, with spans where the document has a source. */
export function reportWith<Code extends string>(
  list: Diagnostic[],
  document: LocatedDocument,
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
function spanFor(document: LocatedDocument, pointer: string, at: 'key' | 'value'): Span {
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
