import type { Diagnostic, Span } from '../diagnostics/diagnostic.ts';
import type { Ast } from './ast.ts';
import type { Scope } from './scope.ts';
import type { Local, Meaning } from './typed.ts';
import type { Type } from './types.ts';

/** The checker's state while it walks one tree. */
export interface Checker<A> {
  readonly ast: Ast;
  readonly scope: Scope<A>;
  readonly lenient: boolean;
  readonly types: (Type | undefined)[];
  readonly meanings: (Meaning<A> | undefined)[];
  readonly diagnostics: Diagnostic[];
  locals: Local | undefined;
  /** Header look-ups known to be there at this point: `map source` + NUL + key. */
  readonly guards: Set<string>;
}

/** Adds a finding; without a checker (`lenient`) only warnings are kept. */
export function report<A>(
  checker: Checker<A>,
  code: string,
  span: Span,
  says: string,
  more: Partial<Diagnostic> = {},
): void {
  const severity = more.severity ?? 'error';
  if (checker.lenient && severity === 'error') return;
  checker.diagnostics.push({ code, pointer: '', span, says, ...more, severity });
}
