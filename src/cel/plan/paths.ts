import type { Has, Index, Name, Select } from '../ast.ts';
import { lookUp } from '../equality.ts';
import type { Evaluate } from '../function_table.ts';
import type { Variable } from '../scope.ts';
import type { Field, Type } from '../types.ts';
import { CelMap, Double, EvalError, isMap, NONE, Optional, Uint } from '../values.ts';
import type { Outcome, StringMap, Value } from '../values.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';
import { constantPlan, errorOf, failing, folded, running, typeOfNode } from './plan.ts';
import type { Plan, Planner } from './plan.ts';

export function planName<A>(planner: Planner<A>, node: Name): Plan<A> {
  return planMeaning(planner, node) ?? failing(typeOfNode(planner, node), unknown(planner, node));
}

function unknown<A>(planner: Planner<A>, node: Name | Select): EvalError {
  const meaning = planner.typed.meanings[node.id];
  const message = meaning?.means === 'nothing' ? meaning.message : 'unknown variable';
  return errorOf('expr.unknown_variable', message, node.span);
}

/** A name or path with a meaning as a whole. */
function planMeaning<A>(planner: Planner<A>, node: Name | Select): Plan<A> | undefined {
  const meaning = planner.typed.meanings[node.id];
  const type = typeOfNode(planner, node);
  if (meaning?.means === 'constant') return constantPlan(type, meaning.value);
  if (meaning?.means === 'variable') {
    const run = readVariable(meaning.variable, node.span);
    return { run, constant: undefined, type, sure: !meaning.variable.optional };
  }
  if (meaning?.means !== 'local') return undefined;
  const cell = planner.cells.get(meaning.local);
  return cell === undefined ? undefined : running(type, () => cell.value);
}

/** A required variable is its bare `read`. */
function readVariable<A>(variable: Variable<A>, span: Span): Evaluate<A> {
  const { read } = variable;
  if (!variable.optional) return read as Evaluate<A>;
  const absent = errorOf('expr.absent', `\`${variable.name}\` is absent`, span);
  return (activation) => {
    const value = read(activation);
    return value === undefined ? absent : value;
  };
}

export function planSelect<A>(planner: Planner<A>, node: Select): Plan<A> {
  const whole = planMeaning(planner, node);
  if (whole !== undefined) return whole;
  const meaning = planner.typed.meanings[node.id];
  if (meaning?.means === 'nothing') {
    const code =
      planner.typed.types[node.operand.id] === undefined ? 'expr.unknown_variable' : 'expr.no_such_field';
    return failing(typeOfNode(planner, node), errorOf(code, meaning.message, node.span));
  }
  const operand = planner.plan(node.operand, true);
  const type = typeOfNode(planner, node);
  if (meaning?.means === 'field' && operand.type.kind === 'object' && !node.optional) {
    return running(type, readField(operand, meaning.field, node));
  }
  if (operand.type.kind === 'map' && !node.optional)
    return running(type, readKey(operand, keyFor(operand.type, node.field), node));
  const { field, optional, span } = node;
  const { run } = operand;
  const select = meaning?.means === 'field' ? fieldSelector(meaning.field, field) : undefined;
  const plan = running<A>(type, (activation) => selectFrom(run(activation), field, optional, span, select));
  return folded(planner, plan, [operand]);
}

type Selector = (value: Outcome) => Value | undefined;

function fieldSelector(field: Field, name: string): Selector {
  const read = field.read as ((object: unknown) => Value | undefined) | undefined;
  return read ?? ((value) => (value as Record<string, Value>)[name]);
}

function readField<A>(operand: Plan<A>, field: Field, node: Select): Evaluate<A> {
  const { run } = operand;
  const read = fieldSelector(field, node.field);
  const absent = field.unset ?? errorOf('expr.absent', `\`${node.field}\` is absent`, node.span);
  return (activation) => {
    const object = run(activation);
    if (object instanceof EvalError) return object;
    const value = read(object);
    return value === undefined ? absent : value;
  };
}

function keyFor(type: Type, key: string): string {
  return type.kind === 'map' && type.foldsCase === true ? key.toLowerCase() : key;
}

/** A constant string key of a map; read directly from string maps, whose objects have no inherited names. */
function readKey<A>(operand: Plan<A>, key: string, node: Select | Index): Evaluate<A> {
  const { run } = operand;
  const missing = errorOf('expr.no_such_key', `no such key \`${key}\``, node.span);
  const { span } = node;
  if (isSureHeader(operand)) {
    return (activation) => {
      const value = (run(activation) as StringMap)[key];
      return value === undefined ? missing : value;
    };
  }
  return (activation) => {
    const map = run(activation);
    if (map instanceof CelMap) {
      const slot = map.slots.get(key);
      return slot === undefined ? missing : slot[1];
    }
    if (map instanceof EvalError) return map;
    if (typeof map !== 'object' || map === null)
      return errorOf('expr.no_such_overload', 'this is not a map', span);
    const value = (map as StringMap)[key];
    return value === undefined ? missing : value;
  };
}

/** A header map that is always present is always an object made by `headerFields()`. */
export function isSureHeader<A>(plan: Plan<A>): boolean {
  return plan.sure === true && plan.type.kind === 'map' && plan.type.foldsCase === true;
}

/** Selection from a value whose type is only known at run time. */
function selectFrom(
  operand: Outcome,
  field: string,
  optional: boolean,
  span: Span,
  select?: Selector,
): Outcome {
  if (operand instanceof EvalError) return operand;
  if (operand instanceof Optional) {
    if (operand.value === undefined) return NONE;
    return selectFrom(operand.value, field, true, span, select);
  }
  const value = select === undefined ? presentField(operand, field) : (select(operand) ?? NOT_THERE);
  if (value === undefined) {
    const message = `a value without fields has no \`${field}\``;
    return errorOf('expr.no_such_key', message, span);
  }
  if (value === NOT_THERE)
    return optional ? NONE : errorOf('expr.no_such_key', `no such field \`${field}\``, span);
  return optional ? new Optional(value) : value;
}

const NOT_THERE: Value = Object.freeze(Object.create(null)) as Value;

/** The field's value, `NOT_THERE`, or undefined for values without fields. */
function presentField(value: Value, field: string): Value | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (isMap(value)) {
    const found = lookUp(value, field);
    return found === undefined ? NOT_THERE : found;
  }
  return ownField(value, field);
}

/** A field of a host object of unknown type: never a method or a name of `Object.prototype`. */
function ownField(object: object, field: string): Value | undefined {
  if (VALUE_CLASSES.some((valueClass) => object instanceof valueClass)) return undefined;
  if (field in Object.prototype) return NOT_THERE;
  const value = (object as Record<string, unknown>)[field];
  return value === undefined || typeof value === 'function' ? NOT_THERE : value;
}

const VALUE_CLASSES: readonly (abstract new (...args: never[]) => object)[] = [Uint, Double, Uint8Array];

/** Whether `has(operand.field)` holds; a field that cannot be absent is not read. */
export function planHas<A>(planner: Planner<A>, node: Has): Plan<A> {
  const { select, span } = node;
  const bool: Type = { kind: 'bool' };
  const meaning = planner.typed.meanings[select.id];
  if (meaning?.means === 'variable') {
    const { read, optional } = meaning.variable;
    return optional
      ? running(bool, (activation) => read(activation) !== undefined)
      : constantPlan(bool, true);
  }
  if (meaning?.means === 'nothing' || meaning?.means === 'constant') {
    return failing(bool, errorOf('expr.unknown_variable', 'unknown variable', span));
  }
  const operand = planner.plan(select.operand, true);
  const { run } = operand;
  const { field } = select;
  if (meaning?.means === 'field' && operand.type.kind === 'object') {
    const read = fieldSelector(meaning.field, field);
    return running(bool, (activation) => {
      const object = run(activation);
      return object instanceof EvalError ? object : read(object) !== undefined;
    });
  }
  return folded(
    planner,
    running<A>(bool, (activation) => isPresent(run(activation), field, span)),
    [operand],
  );
}

function isPresent(operand: Outcome, field: string, span: Span): Outcome {
  if (operand instanceof EvalError) return operand;
  if (operand instanceof Optional)
    return operand.value !== undefined && isPresent(operand.value, field, span);
  const value = presentField(operand, field);
  if (value === undefined)
    return errorOf('expr.no_such_field', `a value without fields has no \`${field}\``, span);
  return value !== NOT_THERE;
}

export function planIndex<A>(planner: Planner<A>, node: Index): Plan<A> {
  const operand = planner.plan(node.operand, true);
  const index = planner.plan(node.index);
  const type = typeOfNode(planner, node);
  const { run } = operand;
  const { span, optional } = node;
  const key = index.constant;
  if (operand.type.kind === 'map' && typeof key === 'string' && !optional) {
    return folded(planner, running(type, readKey(operand, keyFor(operand.type, key), node)), [
      operand,
      index,
    ]);
  }
  if (operand.type.kind === 'list' && typeof key === 'number' && !optional) {
    return folded(planner, running(type, readElement(operand, key, span)), [operand, index]);
  }
  const runIndex = index.run;
  const plan = running<A>(type, (activation) =>
    indexInto(run(activation), runIndex(activation), optional, span),
  );
  return folded(planner, plan, [operand, index]);
}

function readElement<A>(operand: Plan<A>, index: number, span: Span): Evaluate<A> {
  const { run } = operand;
  const missing = errorOf('expr.index_out_of_range', `the list has no element ${index}`, span);
  return (activation) => {
    const list = run(activation);
    if (!Array.isArray(list)) return list instanceof EvalError ? list : indexInto(list, index, false, span);
    const value = (list as readonly Value[])[index];
    return value === undefined ? missing : value;
  };
}

function indexInto(operand: Outcome, index: Outcome, optional: boolean, span: Span): Outcome {
  if (operand instanceof EvalError) return operand;
  if (index instanceof EvalError) return index;
  if (operand instanceof Optional)
    return operand.value === undefined ? NONE : indexInto(operand.value, index, true, span);
  const value = Array.isArray(operand)
    ? elementAt(operand as readonly Value[], index, span)
    : entryAt(operand, index, span);
  if (!optional) return value;
  if (!(value instanceof EvalError)) return new Optional(value);
  return value.code === 'expr.no_such_key' || value.code === 'expr.index_out_of_range' ? NONE : value;
}

/** Lists can be indexed with any integral number. */
function elementAt(list: readonly Value[], index: Value, span: Span): Outcome {
  const position = index instanceof Uint || index instanceof Double ? index.value : index;
  const isWhole =
    typeof position === 'bigint' || (typeof position === 'number' && Number.isInteger(position));
  if (!isWhole) return errorOf('expr.no_such_overload', 'a list index must be an integer', span);
  const value = list[Number(position)];
  return value === undefined
    ? errorOf('expr.index_out_of_range', `the list has no element ${position}`, span)
    : value;
}

function entryAt(operand: Value, key: Value, span: Span): Outcome {
  if (!isMap(operand)) return errorOf('expr.no_such_overload', 'this cannot be indexed', span);
  const value = lookUp(operand, key);
  return value === undefined ? errorOf('expr.no_such_key', 'the map has no such key', span) : value;
}
