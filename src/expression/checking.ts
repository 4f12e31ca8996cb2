import type { Diagnostic, Span } from '../diagnostics/diagnostic.ts';
import type { Ast, Node } from './ast.ts';
import type { Scope } from './scope.ts';
import type { Local, Meaning } from './typed.ts';
import { DYN, formatType } from './types.ts';
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
  /** Types a node and those below it, and remembers the type. */
  readonly typeOf: (node: Node) => Type;
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

/** Reports an error and gives the type that silences what would follow from it. */
export function refuse<A>(
  checker: Checker<A>,
  node: Node,
  says: string,
  code: string,
  more: Partial<Diagnostic> = {},
): Type {
  report(checker, code, node.span, says, more);
  checker.meanings[node.id] = { means: 'nothing', says };
  return DYN;
}

/** Reports an operand that is no bool. */
export function wantBool<A>(checker: Checker<A>, node: Node, type: Type, where: string): void {
  if (type.kind === 'bool' || type.kind === 'dyn') return;
  report(checker, 'expr.not_bool', node.span, `a bool is expected ${where}, this is a ${formatType(type)}`);
}
