import type { Element, LoopVariable, MacroNode, Node } from '../../src/cel/ast.ts';
import { Double, Uint } from '../../src/cel/values.ts';
import type { Value } from '../../src/cel/values.ts';

/** Our tree as `cel.expr.Expr` in protobuf JSON, macros expanded as cel-go does: for comparing parsers only. */
export type Expr = Readonly<Record<string, unknown>>;

export function exprOf(node: Node): Expr {
  return (MAKE[node.kind] as (node: Node) => Expr)(node);
}

const BINARY_NAMES: Readonly<Record<string, string>> = { in: '@in' };

const MAKE: { readonly [K in Node['kind']]: (node: Extract<Node, { kind: K }>) => Expr } = {
  literal: (node) => ({ constExpr: constant(node.value) }),
  name: (node) => ident(`${node.absolute ? '.' : ''}${node.name}`),
  select: (node) =>
    node.optional
      ? call('_?._', [exprOf(node.operand), text(node.field)])
      : { selectExpr: { operand: exprOf(node.operand), field: node.field } },
  has: (node) => ({
    selectExpr: { operand: exprOf(node.select.operand), field: node.select.field, testOnly: true },
  }),
  index: (node) => call(node.optional ? '_[?_]' : '_[_]', [exprOf(node.operand), exprOf(node.index)]),
  call: (node) =>
    node.target === undefined
      ? call(`${node.absolute ? '.' : ''}${node.name}`, node.args.map(exprOf))
      : { callExpr: { target: exprOf(node.target), function: node.name, args: node.args.map(exprOf) } },
  unary: (node) => call(node.operator === '!' ? '!_' : '-_', [exprOf(node.operand)]),
  binary: (node) =>
    call(BINARY_NAMES[node.operator] ?? `_${node.operator}_`, [exprOf(node.left), exprOf(node.right)]),
  logic: (node) => balanced(`_${node.operator}_`, node.terms.map(exprOf)),
  conditional: (node) => call('_?_:_', [exprOf(node.condition), exprOf(node.yes), exprOf(node.no)]),
  list: (node) => ({ listExpr: listOf(node.elements) }),
  map: (node) => ({
    structExpr: {
      entries: node.entries.map((entry) => ({
        mapKey: exprOf(entry.key),
        value: exprOf(entry.value),
        optionalEntry: entry.optional,
      })),
    },
  }),
  message: (node) => ({
    structExpr: {
      messageName: node.name,
      entries: node.fields.map((field) => ({
        fieldKey: field.name,
        value: exprOf(field.value),
        optionalEntry: field.optional,
      })),
    },
  }),
  macro: macroOf,
  bind: (node) =>
    comprehension('#unused', { listExpr: {} }, node.variable.name, {
      init: exprOf(node.value),
      condition: bool(false),
      step: ident(node.variable.name),
      result: exprOf(node.body),
    }),
};

function listOf(elements: readonly Element[]): Expr {
  const optionalIndices = elements.flatMap((element, index) => (element.optional ? [index] : []));
  return { elements: elements.map((element) => exprOf(element.node)), optionalIndices };
}

function constant(value: Value): Expr {
  if (value === null) return { nullValue: null };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number' || typeof value === 'bigint') return { int64Value: String(value) };
  if (value instanceof Uint) return { uint64Value: String(value.value) };
  if (value instanceof Double) return { doubleValue: value.value };
  return { bytesValue: Buffer.from(value as Uint8Array).toString('base64') };
}

const ident = (name: string): Expr => ({ identExpr: { name } });
const call = (name: string, args: readonly Expr[]): Expr => ({ callExpr: { function: name, args } });
const text = (value: string): Expr => ({ constExpr: { stringValue: value } });
const bool = (value: boolean): Expr => ({ constExpr: { boolValue: value } });
const int = (value: number): Expr => ({ constExpr: { int64Value: String(value) } });

/** cel-go halves a chain of one operator: the left part is the longer one. */
function balanced(name: string, terms: readonly Expr[]): Expr {
  if (terms.length === 1) return terms[0]!;
  const middle = Math.ceil(terms.length / 2);
  return call(name, [balanced(name, terms.slice(0, middle)), balanced(name, terms.slice(middle))]);
}

interface Parts {
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

function comprehension(
  variable: string,
  range: Expr,
  accumulator: string,
  parts: Parts,
  second?: string,
): Expr {
  return {
    comprehensionExpr: {
      iterVar: variable,
      ...(second === undefined ? {} : { iterVar2: second }),
      iterRange: range,
      accuVar: accumulator,
      accuInit: parts.init,
      loopCondition: parts.condition,
      loopStep: parts.step,
      result: parts.result,
    },
  };
}

const ACCUMULATOR = '@result';
const RESULT = ident(ACCUMULATOR);

function macroOf(node: MacroNode): Expr {
  const [variable, second] = node.variables as readonly [LoopVariable, LoopVariable?];
  const bodies = node.bodies.map(exprOf);
  const parts = PARTS[`${node.macro.name}/${bodies.length}`]?.(bodies, variable.name);
  if (parts === undefined) throw new Error(`no expansion for ${node.macro.name}`);
  return comprehension(variable.name, exprOf(node.target), ACCUMULATOR, parts, second?.name);
}

function collecting(condition: Expr | undefined, made: Expr): Parts {
  const appended = call('_+_', [RESULT, { listExpr: { elements: [made] } }]);
  const step = condition === undefined ? appended : call('_?_:_', [condition, appended, RESULT]);
  return { init: { listExpr: {} }, condition: bool(true), step, result: RESULT };
}

function counting(condition: Expr): Parts {
  const step = call('_?_:_', [condition, call('_+_', [RESULT, int(1)]), RESULT]);
  return { init: int(0), condition: bool(true), step, result: call('_==_', [RESULT, int(1)]) };
}

const PARTS: Readonly<Record<string, (bodies: readonly Expr[], variable: string) => Parts>> = {
  'all/1': ([body]) => ({
    init: bool(true),
    condition: call('@not_strictly_false', [RESULT]),
    step: call('_&&_', [RESULT, body!]),
    result: RESULT,
  }),
  'exists/1': ([body]) => ({
    init: bool(false),
    condition: call('@not_strictly_false', [call('!_', [RESULT])]),
    step: call('_||_', [RESULT, body!]),
    result: RESULT,
  }),
  'exists_one/1': ([body]) => counting(body!),
  'existsOne/1': ([body]) => counting(body!),
  'filter/1': ([body], variable) => collecting(body, ident(variable)),
  'map/1': ([body]) => collecting(undefined, body!),
  'map/2': ([condition, body]) => collecting(condition, body!),
};
