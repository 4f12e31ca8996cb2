import { withArticle } from '../diagnostics/message_text.ts';
import type { Diagnostic, Span } from '../diagnostics/diagnostic.ts';
import type { Ast, Node } from './ast.ts';
import type { Scope } from './scope.ts';
import type { Local, Meaning } from './typed.ts';
import { type Type, DYN, formatType } from './types.ts';

/** The checker's state during one traversal. */
export interface Checker<A> {
  readonly ast: Ast;
  readonly scope: Scope<A>;
  readonly lenient: boolean;
  readonly types: (Type | undefined)[];
  readonly meanings: (Meaning<A> | undefined)[];
  readonly diagnostics: Diagnostic[];
  locals: Local | undefined;
  /** Header reads known to succeed at this point: `map source` + NUL + key. */
  readonly guards: Set<string>;
  /** Determines and stores the types of a node and its children. */
  readonly typeOf: (node: Node) => Type;
}

/** Adds a finding; in `lenient` mode only warnings are kept. */
export function report<A>(
  checker: Checker<A>,
  code: string,
  span: Span,
  message: string,
  more: Partial<Diagnostic> = {},
): void {
  const severity = more.severity ?? 'error';
  if (checker.lenient && severity === 'error') return;
  checker.diagnostics.push({ code, pointer: '', span, message, ...more, severity });
}

/** Reports an error and returns the type that suppresses follow-up errors. */
export function refuse<A>(
  checker: Checker<A>,
  node: Node,
  message: string,
  code: string,
  more: Partial<Diagnostic> = {},
): Type {
  report(checker, code, node.span, message, more);
  checker.meanings[node.id] = { means: 'nothing', message };
  return DYN;
}

/** Reports an operand that is not a bool. */
export function wantBool<A>(checker: Checker<A>, node: Node, type: Type, where: string): void {
  if (type.kind === 'bool' || type.kind === 'dyn') return;
  report(
    checker,
    'expr.not_bool',
    node.span,
    `a bool is expected ${where}, this is ${withArticle(formatType(type))}`,
  );
}

/** The source of a node. */
export function sourceOf<A>(checker: Checker<A>, node: Node): string {
  return checker.ast.source.slice(node.span.start, node.span.end);
}
