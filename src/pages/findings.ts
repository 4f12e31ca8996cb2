import type { Diagnostic, Severity, Span } from '../diagnostics/diagnostic.ts';
import type { DiagnosticJson } from '../diagnostics/json.ts';
import { linesOf } from '../diagnostics/lines.ts';

/** A diagnostic as the editor marks it. */
export interface Finding {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  /** Null for findings about the whole file. */
  readonly span: Span | null;
  readonly fix: { readonly message: string; readonly span: Span; readonly text: string } | null;
}

/** A finding of a checker in the same program. */
export function findingOf({ severity, code, message, hint, span, fix }: Diagnostic): Finding {
  return { severity, code, message, hint: hint ?? null, span: span ?? null, fix: fix ?? null };
}

/** A finding that a server sent, whose places are lines and columns of `text`. */
export function findingIn(
  text: string,
  { severity, code, message, hint, range, fix }: Omit<DiagnosticJson, 'pointer'>,
): Finding {
  const { starts } = linesOf(text);
  const offsetOf = ({ line, column }: { readonly line: number; readonly column: number }): number => {
    const start = starts[line - 1];
    if (start === undefined) return text.length;
    // Columns count code points.
    return (
      start +
      Array.from(text.slice(start, start + 2 * column))
        .slice(0, column - 1)
        .join('').length
    );
  };
  const spanOf = ({ start, end }: NonNullable<DiagnosticJson['range']>): Span => ({
    start: offsetOf(start),
    end: offsetOf(end),
  });
  return {
    severity,
    code,
    message,
    hint,
    span: range && spanOf(range),
    fix: fix && { message: fix.message, span: spanOf(fix.range), text: fix.text },
  };
}
