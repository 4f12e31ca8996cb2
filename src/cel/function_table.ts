/**
 * How functions, methods and macros are declared: as rows of a table.
 *
 * A row combines documentation, types and behaviour; the checker, the planner, completion and the generated
 * page read the same row. Rows are in `std/*.ts` (the language) and wherever a policy language declares its
 * own; `functionTable(...rows)` joins them, `extendTable(table, rows)` adds to a table.
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
 * - `params` include the receiver as the first one. `style` defines the call syntax: `global` is `f(a, b)`,
 *   `method` is `a.f(b)`, `both` allows either. A dotted name (`hash.sha256`) is always global.
 * - `call` receives run-time values (`values.ts` has the table: ints are `number` or `bigint`, doubles are
 *   `Double`, strings plain) whose types are inferred from `params`. Arguments are never errors or absent. A
 *   string with fields is passed as the plain string, unless the parameter is that very object type: then the
 *   overload gets the object, for example to reuse an address that is already parsed.
 * - It returns a value, or `fail(code, says)`; it never throws. The planner adds the span of the call.
 * - A row that reads the activation (headers, randomness, time) declares `callWith(activation, ...arguments)`
 *   in place of `call`. It is not pure.
 * - `pure` (default: true for `call`, false for `callWith`) allows folding at plan time.
 * - `cost` gives units beyond the 1 that every node costs; it is evaluated *before* the call and must bound the
 *   size of what the call creates or traverses: one unit for 8 characters or one element (`limits.ts`).
 * - `specialise` is called once, at plan time, if at least one argument is constant. `constants[i]` is the
 *   value of the i-th argument or undefined. It may return a `call` (or `callWith`) that receives only the
 *   arguments that are *not* constant, in order, with the constant ones prepared (a compiled pattern, a prefix
 *   set, a lower-cased name); or a `problem`, which `check` reports at the argument's span (together with a
 *   `call` if it is only a warning); or undefined to decline. Folding comes first: if all arguments are
 *   constant and the row is pure, only its problem is used.
 * - Overloads are tried in order; the first whose parameters accept the argument types is taken. If a type is
 *   only known at run time (`dyn`), the same order is tried on the values.
 *
 * A macro (`all`, `map`, `sortBy`) is a loop over its receiver with variables: `MacroRow` below.
 */
import type { Value, EvalError, EvalErrorCode, Outcome } from './values.ts';
import type { Type, ValueOf } from './types.ts';

export type ValuesOf<P extends readonly Type[]> = { -readonly [I in keyof P]: ValueOf<P[I]> };

type Style = 'global' | 'method' | 'both';

/** `call` with its parameter types erased, for the planner. */
export type Call = (...values: Value[]) => Outcome;
export type CallWith<A> = (activation: A, ...values: Value[]) => Outcome;

/** `cost` counts the arguments that are left; it is charged wherever the call stands. */
export type Specialised<A> =
  | { readonly call: Call; readonly cost?: (...values: Value[]) => number; readonly problem?: Problem }
  | { readonly callWith: CallWith<A>; readonly problem?: Problem }
  | { readonly problem: Problem };

/** A constant argument that can never work, such as an invalid pattern. */
export interface Problem {
  readonly code: `expr.${string}`;
  readonly severity?: 'error' | 'warning';
  readonly message: string;
  /** Index into `params`; the diagnostic points to that argument. */
  readonly argument: number;
  readonly hint?: string;
  /** For a constant list: the index of the wrong element. */
  readonly element?: number;
  /** Replacement for the argument's source text, if it is certain. */
  readonly replacement?: string;
}

export interface Overload<A = unknown> {
  readonly id: string;
  readonly style: Style;
  readonly params: readonly Type[];
  /** The last parameter can be repeated; it occurs at least once. */
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
  /** An expression that is true; shown in the page and evaluated by a test. */
  readonly example: string;
  readonly overloads: readonly Overload<A>[];
  /** If the first argument is a key of a map of the scope: that map, and whether the function tests for the key, reads it, or gives a list that may be empty. */
  readonly key?: { readonly map: string; readonly role: 'test' | 'read' | 'list'; readonly foldsCase?: true };
}

export type Evaluate<A = unknown> = (activation: A) => Outcome;

/** Storage of a loop variable or binding at run time. Written by the loop, read by its bodies. */
export interface Cell {
  value: Value;
}

/** The context of a macro's `plan`. */
export interface Loop<A> {
  readonly target: Evaluate<A>;
  readonly variables: readonly Cell[];
  readonly bodies: readonly Evaluate<A>[];
  /** Charges units to the evaluation's budget; false if it is used up: then return `exhausted`. */
  charge(units: number): boolean;
  readonly exhausted: EvalError;
  /** An error value at the macro's span. */
  error(code: EvalErrorCode, message: string): EvalError;
  /** Units per iteration: the size of the bodies. Charge `turns * turnCost` before the first iteration. */
  readonly turnCost: number;
}

/**
 * `target.name(variable, …, body, …)`. `variables` names come first, then `bodies` expressions that can use the
 * variables. `plan` sets the cells and evaluates the bodies, which may return errors.
 */
export interface MacroRow {
  readonly kind: 'macro';
  readonly name: string;
  readonly doc: string;
  readonly example: string;
  /** 0 for methods that evaluate their argument only if needed, such as `orValue`. */
  readonly variables: 0 | 1 | 2;
  readonly bodies: number;
  /** Types of the variables for a receiver's type (never `dyn`); undefined if it cannot be iterated. */
  readonly variableTypes: (target: Type) => readonly Type[] | undefined;
  /** Indices of bodies that must be bool. */
  readonly conditions?: readonly number[];
  readonly result: (target: Type, bodies: readonly Type[]) => Type;
  readonly plan: <A>(loop: Loop<A>) => Evaluate<A>;
}

export type Row<A = unknown> = FunctionRow<A> | MacroRow;

export interface FunctionTable<A = unknown> {
  readonly rows: readonly Row<A>[];
  readonly functions: ReadonlyMap<string, FunctionRow<A>>;
  /** First names of dotted function names, such as `math` of `math.abs`. */
  readonly namespaces: ReadonlySet<string>;
  /** By `name/number of arguments`, without the receiver. */
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

/** One overload whose implementation's argument types are inferred from `params`. */
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

/** An overload that reads the activation. `A` is inferred from the annotation of the first parameter. */
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
  key?: FunctionRow['key'],
): FunctionRow<A> {
  return { kind: 'function', name, doc, example, overloads, ...(key && { key }) };
}

/** Joins rows into a table. Rows with the same name are merged, with their overloads in order. */
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
  const dotted = Array.from(functions.keys()).filter((name) => name.includes('.'));
  const namespaces = new Set(dotted.map((name) => name.slice(0, name.indexOf('.'))));
  return { rows, functions, namespaces, macros };
}

export function extendTable<A>(table: FunctionTable, rows: readonly Row<A>[]): FunctionTable<A> {
  return functionTable<A>(table.rows, rows);
}
