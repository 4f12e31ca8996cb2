/**
 * Expressions: CEL with RE2 patterns, compiled once into closures.
 *
 * `compile(source, scope)` → `Program`; `program.evaluate(activation)` → a value or an error value.
 * `function_table.ts` describes the declaration of functions, `scope.ts` of variables, `values.ts` the values.
 */
export { childrenOf, walkNodes } from './ast.ts';
export type { Ast, Node } from './ast.ts';
export type { CheckOptions } from './checker.ts';
export { coverageOf } from './coverage.ts';
export type { BooleanNode, Coverage } from './coverage.ts';
export { explain, tracer } from './explain.ts';
export type { Explanation, Step, Tracer } from './explain.ts';
export { extendTable, func, functionTable, overload, overloadWith } from './function_table.ts';
export type { FunctionRow, FunctionTable, MacroRow, Overload, Row } from './function_table.ts';
export { check, compile, parse } from './program.ts';
export type { Checked, Compiled, Program } from './program.ts';
export { declareScope, namesUnder, variable } from './scope.ts';
export type { Scope, Unavailable, Variable } from './scope.ts';
export { STANDARD } from './std/standard.ts';
export {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  formatType,
  headerMap,
  INT,
  list,
  map,
  NULL,
  object,
  optional,
  parameter,
  STRING,
  stringWithFields,
  TIMESTAMP,
  TYPE,
  UINT,
} from './types.ts';
export type { Field, ObjectType, Type } from './types.ts';
export {
  CelMap,
  Double,
  Duration,
  EvalError,
  fail,
  headerFields,
  isError,
  Optional,
  stringMap,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
} from './values.ts';
export type { EvalErrorCode, Outcome, Value } from './values.ts';
