import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { type CheckOptions, checkAst } from './checker.ts';
import type { FunctionTable } from './function_table.ts';
import { parseExpression } from './parser.ts';
import { type Planned, planTyped } from './plan/planner.ts';
import type { Scope } from './scope.ts';
import { STANDARD } from './std/standard.ts';
import type { Ast } from './ast.ts';
import type { Typed } from './typed.ts';
import type { Type } from './types.ts';
import type { Outcome } from './values.ts';

/** A compiled expression: immutable, and reusable, but not reentrant. */
export interface Program<A> {
  readonly source: string;
  readonly type: Type;
  readonly typed: Typed<A>;
  /** Warnings only; errors prevent the program. */
  readonly diagnostics: readonly Diagnostic[];
  /** A value or an error value; never throws. A rule applies only if the outcome is `=== true`. */
  readonly evaluate: (activation: A) => Outcome;
  readonly lenient: boolean;
}

export type Compiled<A> =
  | { readonly program: Program<A>; readonly diagnostics: readonly Diagnostic[] }
  | { readonly program: undefined; readonly diagnostics: readonly Diagnostic[] };

export interface Checked {
  /** Undefined if the source cannot be parsed. */
  readonly type: Type | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** The syntax tree of a source, or its first syntax error. `functions` defines the macros. */
export function parse(
  source: string,
  functions: Pick<FunctionTable, 'macros'> = STANDARD,
): { readonly ast: Ast } | { readonly diagnostic: Diagnostic } {
  return parseExpression(source, functions.macros);
}

/** All findings for an expression in a scope, including constants that cannot work. Never throws. */
export function check<A>(source: string, scope: Scope<A>, options: CheckOptions = {}): Checked {
  const made = make(source, scope, options);
  return { type: made.typed?.type, diagnostics: made.diagnostics };
}

/** Compiles once; the program is undefined exactly if a diagnostic is an error. Never throws. */
export function compile<A>(source: string, scope: Scope<A>, options: CheckOptions = {}): Compiled<A> {
  const { typed, planned, diagnostics } = make(source, scope, options);
  if (typed === undefined || planned === undefined || hasErrors(diagnostics))
    return { program: undefined, diagnostics };
  const { evaluate } = planned;
  const lenient = options.typing === 'lenient';
  return { program: { source, type: typed.type, typed, diagnostics, evaluate, lenient }, diagnostics };
}

interface Made<A> {
  readonly typed: Typed<A> | undefined;
  readonly planned: Planned<A> | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

function make<A>(source: string, scope: Scope<A>, options: CheckOptions): Made<A> {
  const parsed = parseExpression(source, scope.functions.macros);
  if ('diagnostic' in parsed)
    return { typed: undefined, planned: undefined, diagnostics: [parsed.diagnostic] };
  const typed = checkAst(parsed.ast, scope, options);
  if (hasErrors(typed.diagnostics)) return { typed, planned: undefined, diagnostics: typed.diagnostics };
  const planned = planTyped(typed, { lenient: options.typing === 'lenient' });
  const findings = [...typed.diagnostics, ...planned.diagnostics, ...constantRoot(typed, planned, options)];
  return { typed, planned, diagnostics: findings };
}

/** A rule that never depends on the request. */
function constantRoot<A>(typed: Typed<A>, planned: Planned<A>, options: CheckOptions): readonly Diagnostic[] {
  const { constant } = planned;
  const { root } = typed.ast;
  if (typeof constant !== 'boolean' || options.wants?.kind !== 'bool') return [];
  if (planned.diagnostics.some((known) => known.code === 'expr.constant_condition')) return [];
  const message = `the expression is always ${constant}`;
  return [{ code: 'expr.constant_condition', severity: 'warning', message, pointer: '', span: root.span }];
}
