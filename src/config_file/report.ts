import { weakMemoize } from '../caches/weak_memoize.ts';
import type { Diagnostic, Fix, Severity, Source, Span } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';
import type { More, Report } from '../diagnostics/report.ts';
import { without } from './edits.ts';
import { quotedScalar } from './quoted_scalar.ts';
import { type LocatedDocument, type Written, writtenAt } from './document.ts';

/** A `Report` of errors that appends to `list`, with the prefix of the kind of file before each code. */
export function errorsTo<Code extends string>(
  list: Diagnostic[],
  document: LocatedDocument,
  prefix: string,
): Report<Code> {
  const report = reportWith<string>(list, document, () => 'error');
  return (code, pointer, message, more) => report(`${prefix}.${code}`, pointer, message, more);
}

/** A `Report` that appends to `list`, with spans if the document has a source. */
export function reportWith<Code extends string>(
  list: Diagnostic[],
  document: LocatedDocument,
  severityOf: (code: Code) => Severity | undefined,
): Report<Code> {
  return (code, pointer, message, more = {}) => {
    const written = writtenAt(document, pointer);
    const { source } = written.document;
    const placeOf = (at: string): string => placeBeside(source, writtenAt(document, at), at);
    const span =
      source &&
      (more.span ??
        spanWithin(written.document, written.pointer, more.within) ??
        nearestSpan(written.document, written.pointer, more.at ?? 'value'));
    const notes = [
      ...(more.first === undefined ? [] : [`the first is at ${placeOf(more.first)}`]),
      ...(more.notes ?? []),
    ];
    const isExact =
      span !== undefined &&
      (more.span !== undefined || more.within !== undefined || isOwn(written, more.at ?? 'value', span));
    const fix = source && isExact && more.fix && fixFor(source.text, span, more);
    list.push({
      code,
      severity: severityOf(code) ?? 'error',
      message,
      pointer,
      ...(source && { source }),
      ...(span && { span }),
      ...(more.reason !== undefined && { reason: more.reason }),
      ...(more.hint !== undefined && { hint: more.hint }),
      ...(notes.length > 0 && { notes }),
      ...(fix && { fix }),
    });
  };
}

const linesIn = weakMemoize(({ text }: Source) => linesOf(text));

/** A place as a finding in `source` names it: by its line, and by its file if that is another one. */
function placeBeside(source: Source | undefined, { document, pointer }: Written, given: string): string {
  const span = document.keySpanOf(pointer) ?? document.spanOf(pointer);
  if (document.source === undefined || span === undefined) return given;
  const { line } = positionAt(linesIn(document.source), span.start);
  return document.source === source ? `line ${line}` : `${document.source.name}:${line}`;
}

/** A part of a string, if the source text contains the string unescaped. */
function spanWithin(
  { source, spanOf }: LocatedDocument,
  pointer: string,
  within: More['within'],
): Span | undefined {
  const whole = spanOf(pointer);
  if (within === undefined || whole === undefined || source === undefined) return undefined;
  const { span, decoded } = within;
  const text = source.text.slice(whole.start, whole.end);
  const quote = text.startsWith('"') || text.startsWith("'") ? 1 : 0;
  if (text.slice(quote, text.length - quote) !== decoded || span.start >= decoded.length) return undefined;
  const start = whole.start + quote;
  return { start: start + span.start, end: start + span.end };
}

/** The span to mark: the key or value itself, otherwise the nearest parent that has a span. */
export function nearestSpan(
  document: Pick<LocatedDocument, 'spanOf' | 'keySpanOf'>,
  pointer: string,
  at: 'key' | 'value',
): Span {
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

/** Whether a text can be written without quotes, also between brackets. */
function isPlain(text: string): boolean {
  return /^[\w./(^$][^,[\]{}#]*$/.test(text) && !/: |:$/.test(text);
}

/** Whether a span is that of a pointer, not of something around it. */
function isOwn({ document, pointer }: Written, at: 'key' | 'value', span: Span): boolean {
  const own = at === 'key' ? document.keySpanOf(pointer) : document.spanOf(pointer);
  // The place of nothing is marked by its key.
  const marked = isEmpty(own) ? document.keySpanOf(pointer) : own;
  return marked?.start === span.start && marked.end === span.end;
}

function fixFor(
  source: string,
  span: Span,
  { fix: wanted, at = 'value', within, span: given }: More,
): Fix | null {
  if (wanted === undefined) return null;
  const isPart = within !== undefined || given !== undefined;
  const { message, safe } = wanted;
  // What is written there has only become the value that is wrong.
  if (!isPart && source.slice(span.start, span.end).includes('${')) return null;
  if (!('text' in wanted)) {
    const edit = ('edit' in wanted ? wanted.edit : without(at))(source, span);
    return edit && { message, ...edit, safe };
  }
  const quote = source[span.start];
  const isQuoted = !isPart && (quote === '"' || quote === "'");
  const plain = isPart || isPlain(wanted.text) ? wanted.text : quotedScalar(wanted.text);
  const text = isQuoted ? `${quote}${wanted.text}${quote}` : plain;
  return { message, span, text, safe };
}
