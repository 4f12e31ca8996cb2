import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Ast, Node } from './ast.ts';
import type { Overload } from './function_table.ts';
import type { Scope, Variable } from './scope.ts';
import type { Field, Type } from './types.ts';
import type { Value } from './values.ts';

/** A loop variable or `cel.bind` name, one object per declaration. */
export interface Local {
  readonly name: string;
  readonly type: Type;
  readonly outer: Local | undefined;
}

/** The checker's findings about a node that its form does not show. */
export type Meaning<A> =
  | { readonly means: 'variable'; readonly variable: Variable<A> }
  | { readonly means: 'local'; readonly local: Local }
  | { readonly means: 'constant'; readonly value: Value }
  | { readonly means: 'field'; readonly field: Field }
  | {
      readonly means: 'call';
      readonly args: readonly Node[];
      readonly candidates: readonly Overload<A>[];
      readonly exact: boolean;
    }
  /** Variables of a macro or bind, in order. */
  | { readonly means: 'declares'; readonly locals: readonly Local[] }
  /** Invalid, but compiled leniently: evaluating it gives this error. */
  | { readonly means: 'nothing'; readonly message: string };

/** A checked expression: the tree, and side tables by node id. */
export interface Typed<A> {
  readonly ast: Ast;
  readonly scope: Scope<A>;
  /** Type of the whole expression; a string with fields has already decayed. */
  readonly type: Type;
  readonly types: readonly (Type | undefined)[];
  readonly meanings: readonly (Meaning<A> | undefined)[];
  readonly diagnostics: readonly Diagnostic[];
}
