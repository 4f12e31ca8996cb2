import type { Basis, Diagnostic, Severity, Span } from './diagnostic.ts';
import { type Lines, type Position, linesOf, positionAt } from './lines.ts';

/** A range of a source, with lines and columns from 1; `end` is exclusive. */
interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** A finding as data for editors and CI. Absent values are null. */
export interface DiagnosticJson {
  readonly file: string | null;
  readonly range: Range | null;
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly pointer: string;
  readonly hint: string | null;
  readonly notes: readonly string[];
  readonly basis: Basis | null;
  readonly fix: {
    readonly message: string;
    readonly range: Range;
    readonly text: string;
    readonly safe: boolean;
  } | null;
}

/** Findings as plain data, in the given order, ready for `JSON.stringify`. */
export function diagnosticsToJson(list: readonly Diagnostic[]): DiagnosticJson[] {
  const linesByText = new Map<string, Lines>();
  return list.map(({ source, span, severity, code, message, pointer, hint, notes, basis, fix }) => {
    let lines = source && linesByText.get(source.text);
    if (source && lines === undefined) linesByText.set(source.text, (lines = linesOf(source.text)));
    return {
      file: source?.name ?? null,
      range: lines && span ? rangeOf(lines, span) : null,
      severity,
      code,
      message,
      pointer,
      hint: hint ?? null,
      notes: notes ?? [],
      basis: basis ?? null,
      fix:
        lines && fix
          ? { message: fix.message, range: rangeOf(lines, fix.span), text: fix.text, safe: fix.safe }
          : null,
    };
  });
}

function rangeOf(lines: Lines, span: Span): Range {
  return { start: positionAt(lines, span.start), end: positionAt(lines, span.end) };
}
