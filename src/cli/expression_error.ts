import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import type { EvalError } from '../cel/values.ts';
import { reasonOfAbsence } from '../edge/expression_values.ts';

/** Adds the place to findings about an expression from the command line. */
export function placed(diagnostics: readonly Diagnostic[], source: Source): readonly Diagnostic[] {
  return diagnostics.map((one) => ({ ...one, source }));
}

/** An evaluation error as a finding with its place. */
export function findingOf(error: EvalError, source: Source): Diagnostic {
  const span = error.span ?? { start: 0, end: source.text.length };
  const reason =
    error.code === 'expr.absent' ? reasonOfAbsence(source.text.slice(span.start, span.end)) : undefined;
  return {
    code: error.code,
    severity: 'error',
    message: error.message,
    pointer: '',
    source,
    span,
    ...(reason !== undefined && { notes: [reason] }),
  };
}
