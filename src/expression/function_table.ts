/**
 * How functions, methods and macros are declared: as rows of a table.
 *
 * A row is documentation, types and behaviour in one place; the checker, the planner, completion and the
 * generated page all read the same row. Rows live in `std/*.ts` (the language) and wherever a policy
 * language declares its own; `functionTable(...rows)` joins them, `extendTable(table, rows)` adds to one.
 *
 * ```ts
 * const rows = [
 *   func('shout', 'Upper case and an exclamation mark.', "'hi'.shout() == 'HI!'", [
 *     overload({ id: 'shout_string', style: 'method', params: [STRING], result: STRING,
 *                call: (text) => `${text.toUpperCase()}!`,
 *                cost: (text) => text.length / 8 }),
 *   ]),
 *   func('hash.sha256', …, [overload({ id: 'sha256_string', style: 'global', params: [STRING], … })]),
 * ];
 * ```
 *
 * - `params` include the receiver as the first one. `style` says how the call is written: `global` is
 *   `f(a, b)`, `method` is `a.f(b)`, `both` allows either. A dotted name (`hash.sha256`) is always global.
 * - `call` receives run-time values (`values.ts` has the table: ints are `number` or `bigint`, doubles are
 *   `Double`, strings plain) whose types are inferred from `params`. Arguments are never errors or absent.
 *   A value of a string with fields arrives as the plain string, unless the parameter is that very object
 *   type: then the overload gets the object, which is how an address that is already parsed is reused.
 * - It returns a value, or `fail(code, says)`; it never throws. The planner adds the span of the call.
 * - A row that reads the activation (headers, chance, time) declares `callWith(activation, ...arguments)`
 *   in place of `call`. It is not pure.
 * - `pure` (default: true for `call`, false for `callWith`) allows folding at plan time.
 * - `cost` gives units beyond the 1 that every node costs; it is asked *before* the call and must bound the
 *   size of what the call makes or walks: one unit for 8 characters or one element (`limits.ts`).
 * - `specialise` is asked once, at plan time, when at least one argument is constant. `constants[i]` is the
 *   value of the i-th argument or undefined. It may return a `call` (or `callWith`) that receives only the
 *   arguments that are *not* constant, in order, having worked on the constant ones once (a compiled
 *   pattern, a prefix set, a lower-cased name); or a `problem`, which `check` reports at the argument's
 *   span (beside a `call` when it is only a warning); or undefined to decline. Folding comes first: it is not asked when all arguments are constant
 *   and the row is pure, except for its problem.
 * - Overloads are tried in order; the first whose parameters accept the argument types is taken. When
 *   a type is only known at run time (`dyn`), the same order is tried on the values.
 *
 * A macro (`all`, `map`, `sortBy`) is a loop over its receiver with variables: `MacroRow` below.
 */
import type { Value, EvalError, EvalErrorCode, Outcome } from './values.ts';
import type { Type, ValueOf } from './types.ts';

export type ValuesOf<P extends readonly Type[]> = { -readonly [I in keyof P]: ValueOf<P[I]> };

export type Style = 'global' | 'method' | 'both';

/** `call` as the planner sees it, its parameters erased. */
export type Call = (...values: Value[]) => Outcome;
export type CallWith<A> = (activation: A, ...values: Value[]) => Outcome;

export type Specialised<A> =
  | { readonly call: Call; readonly problem?: Problem }
  | { readonly callWith: CallWith<A>; readonly problem?: Problem }
  | { readonly problem: Problem };

/** A constant argument that can never work, such as an invalid pattern. */
export interface Problem {
  readonly code: `expr.${string}`;
  readonly severity?: 'error' | 'warning';
  readonly says: string;
  /** Index into `params`; the diagnostic stands at that argument. */
  readonly argument: number;
  readonly hint?: string;
  /** For a constant list: which element of it is at fault. */
  readonly element?: number;
  /** Replacement for the argument's source text, where one is sure. */
  readonly replacement?: string;
}

export interface Overload<A = unknown> {
  readonly id: string;
  readonly style: Style;
  readonly params: readonly Type[];
  /** The last parameter may be given any number of times, at least once. */
  readonly variadic?: boolean;
  readonly result: Type;
  readonly pure: boolean;
  readonly call?: Call;
  readonly callWith?: CallWith<A>;
  readonly cost?: (...values: Value[]) => number;
  readonly specialise?: (constants: readonly (Value | undefined)[]) => Specialised<A> | undefined;
}

export interface FunctionRow<A = unknown> {
  readonly kind: 'function';
  readonly name: string;
  /** One sentence. */
  readonly doc: string;
  /** An expression that is true, for the page and for the test that runs every example. */
  readonly example: string;
  readonly overloads: readonly Overload<A>[];
}

export type Evaluate<A = unknown> = (activation: A) => Outcome;

/** Where a loop variable or binding lives while a program runs. Written by the loop, read by its bodies. */
export interface Cell {
  value: Value;
}

/** What a macro's `plan` works with. */
export interface Loop<A> {
  readonly target: Evaluate<A>;
  readonly variables: readonly Cell[];
  readonly bodies: readonly Evaluate<A>[];
  /** Takes units from the evaluation's budget; false when it is used up: return `exhausted` then. */
  charge(units: number): boolean;
  readonly exhausted: EvalError;
  /** An error value at the macro's span. */
  error(code: EvalErrorCode, says: string): EvalError;
  /** Units that one turn costs: the size of the bodies. Charge `turns * turnCost` before the first turn. */
  readonly turnCost: number;
}

/**
 * `target.name(variable, …, body, …)`. `variables` names come first, then `bodies` expressions in which
 * the variables are visible. `plan` sets the cells and evaluates the bodies. Bodies may give errors.
 */
export interface MacroRow {
  readonly kind: 'macro';
  readonly name: string;
  readonly doc: string;
  readonly example: string;
  /** None for methods whose argument is evaluated only when needed, such as `orValue`. */
  readonly variables: 0 | 1 | 2;
  readonly bodies: number;
  /** Types of the variables for a receiver's type (never `dyn`); undefined when it cannot be looped over. */
  readonly variableTypes: (target: Type) => readonly Type[] | undefined;
  /** Bodies that must be bool, by index. */
  readonly conditions?: readonly number[];
  readonly result: (target: Type, bodies: readonly Type[]) => Type;
  readonly plan: <A>(loop: Loop<A>) => Evaluate<A>;
}

export type Row<A = unknown> = FunctionRow<A> | MacroRow;

export interface FunctionTable<A = unknown> {
  readonly rows: readonly Row<A>[];
  readonly functions: ReadonlyMap<string, FunctionRow<A>>;
  /** By `name/number of arguments`, the receiver not counted. */
  readonly macros: ReadonlyMap<string, MacroRow>;
}

interface OverloadBase<P extends readonly Type[]> {
  readonly id: string;
  readonly style: Style;
  readonly params: P;
  readonly variadic?: boolean;
  readonly result: Type;
  readonly cost?: (...values: ValuesOf<P>) => number;
}

/** One overload whose implementation's argument types follow from `params`. */
export function overload<const P extends readonly Type[], R extends Type>(
  row: OverloadBase<P> & {
    readonly result: R;
    readonly pure?: boolean;
    readonly call: (...values: ValuesOf<P>) => ValueOf<R> | EvalError;
    readonly specialise?: (constants: readonly (Value | undefined)[]) => Specialised<unknown> | undefined;
  },
): Overload {
  return { pure: true, ...row } as unknown as Overload;
}

/** An overload that reads the activation. `A` is given by annotating the first parameter. */
export function overloadWith<A, const P extends readonly Type[], R extends Type>(
  row: OverloadBase<P> & {
    readonly result: R;
    readonly callWith: (activation: A, ...values: ValuesOf<P>) => ValueOf<R> | EvalError;
    readonly specialise?: (constants: readonly (Value | undefined)[]) => Specialised<A> | undefined;
  },
): Overload<A> {
  return { pure: false, ...row } as unknown as Overload<A>;
}

export function func<A = unknown>(
  name: string,
  doc: string,
  example: string,
  overloads: readonly Overload<A>[],
): FunctionRow<A> {
  return { kind: 'function', name, doc, example, overloads };
}

/** Joins rows into a table. Rows of one name are merged, their overloads in order. */
export function functionTable<A = unknown>(...groups: readonly (readonly Row<A>[])[]): FunctionTable<A> {
  const rows = groups.flat();
  const functions = new Map<string, FunctionRow<A>>();
  const macros = new Map<string, MacroRow>();
  for (const row of rows) {
    if (row.kind === 'macro') {
      macros.set(`${row.name}/${row.variables + row.bodies}`, row);
      continue;
    }
    const known = functions.get(row.name);
    functions.set(
      row.name,
      known === undefined ? row : { ...known, overloads: [...known.overloads, ...row.overloads] },
    );
  }
  return { rows, functions, macros };
}

export function extendTable<A>(table: FunctionTable, rows: readonly Row<A>[]): FunctionTable<A> {
  return functionTable<A>(table.rows, rows);
}
