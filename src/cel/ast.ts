import type { Span } from '../diagnostics/diagnostic.ts';
import type { MacroRow } from './function_table.ts';
import type { Value } from './values.ts';

/**
 * The syntax tree: plain data. Every node has its source span and an id, numbered in the order of creation, so
 * that the same source always gives the same ids; side tables of the checker and the planner are arrays indexed
 * by id.
 */
export type Node =
  | Literal
  | Name
  | Select
  | Has
  | Index
  | Call
  | Unary
  | Binary
  | Logic
  | Conditional
  | ListNode
  | MapNode
  | Message
  | MacroNode
  | Bind;

interface At {
  readonly id: number;
  readonly span: Span;
}

interface Literal extends At {
  readonly kind: 'literal';
  readonly value: Value;
}

export interface Name extends At {
  readonly kind: 'name';
  readonly name: string;
  /** Written with a leading dot: not resolved in the container, nor to a loop variable. */
  readonly absolute: boolean;
}

export interface Select extends At {
  readonly kind: 'select';
  readonly operand: Node;
  readonly field: string;
  readonly fieldSpan: Span;
  /** Written `.?`. */
  readonly optional: boolean;
}

/** `has(operand.field)`. */
export interface Has extends At {
  readonly kind: 'has';
  readonly select: Select;
}

export interface Index extends At {
  readonly kind: 'index';
  readonly operand: Node;
  readonly index: Node;
  /** Written `[?`. */
  readonly optional: boolean;
}

export interface Call extends At {
  readonly kind: 'call';
  readonly name: string;
  readonly nameSpan: Span;
  readonly target: Node | undefined;
  readonly args: readonly Node[];
  readonly absolute: boolean;
}

export interface Unary extends At {
  readonly kind: 'unary';
  readonly operator: '!' | '-';
  readonly operand: Node;
}

export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in';

export interface Binary extends At {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: Node;
  readonly right: Node;
}

/** A whole chain of one operator: `a && b && c` is one node with three terms. */
export interface Logic extends At {
  readonly kind: 'logic';
  readonly operator: '&&' | '||';
  readonly terms: readonly Node[];
}

export interface Conditional extends At {
  readonly kind: 'conditional';
  readonly condition: Node;
  readonly yes: Node;
  readonly no: Node;
}

export interface ListNode extends At {
  readonly kind: 'list';
  readonly elements: readonly Element[];
}

export interface Element {
  readonly node: Node;
  /** Written with `?`: omitted if the optional is empty. */
  readonly optional: boolean;
}

export interface MapNode extends At {
  readonly kind: 'map';
  readonly entries: readonly Entry[];
}

export interface Entry {
  readonly key: Node;
  readonly value: Node;
  readonly optional: boolean;
}

/** A protobuf message literal: parsed, but always rejected by the checker. */
interface Message extends At {
  readonly kind: 'message';
  readonly name: string;
  readonly fields: readonly MessageField[];
}

export interface MessageField {
  readonly name: string;
  readonly value: Node;
  readonly optional: boolean;
}

export interface LoopVariable {
  readonly name: string;
  readonly span: Span;
}

/** `target.all(x, body)` and the other macros. */
export interface MacroNode extends At {
  readonly kind: 'macro';
  readonly macro: MacroRow;
  readonly nameSpan: Span;
  readonly target: Node;
  readonly variables: readonly LoopVariable[];
  readonly bodies: readonly Node[];
}

/** `cel.bind(name, value, body)`. */
export interface Bind extends At {
  readonly kind: 'bind';
  readonly variable: LoopVariable;
  readonly value: Node;
  readonly body: Node;
}

export interface Ast {
  readonly source: string;
  readonly root: Node;
  readonly nodeCount: number;
}

/** The direct sub-expressions of a node, in source order. */
export function childrenOf(node: Node): readonly Node[] {
  return CHILDREN[node.kind](node as never);
}

const CHILDREN: { readonly [K in Node['kind']]: (node: Extract<Node, { kind: K }>) => readonly Node[] } = {
  literal: () => [],
  name: () => [],
  select: (node) => [node.operand],
  has: (node) => [node.select.operand],
  index: (node) => [node.operand, node.index],
  call: (node) => (node.target === undefined ? node.args : [node.target, ...node.args]),
  unary: (node) => [node.operand],
  binary: (node) => [node.left, node.right],
  logic: (node) => node.terms,
  conditional: (node) => [node.condition, node.yes, node.no],
  list: (node) => node.elements.map((element) => element.node),
  map: (node) => node.entries.flatMap((entry) => [entry.key, entry.value]),
  message: (node) => node.fields.map((field) => field.value),
  macro: (node) => [node.target, ...node.bodies],
  bind: (node) => [node.value, node.body],
};

/** Every node once, parents before children, in source order. */
export function walkNodes(root: Node, visit: (node: Node) => void): void {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    visit(node);
    waiting.push(...childrenOf(node).toReversed());
  }
}

/** `a.b.c` as a list of names if the node consists of names and plain selections only. */
export function dottedPath(node: Node): string[] | undefined {
  if (node.kind === 'name') return [node.name];
  if (node.kind !== 'select' || node.optional) return undefined;
  const path = dottedPath(node.operand);
  path?.push(node.field);
  return path;
}

/** `dottedPath` as one text. */
export function dottedName(node: Node): string | undefined {
  if (node.kind === 'name') return node.name;
  if (node.kind !== 'select' || node.optional) return undefined;
  const path = dottedName(node.operand);
  return path === undefined ? undefined : `${path}.${node.field}`;
}

/** The name that a dotted path begins with. */
export function pathRoot(node: Node): Name | undefined {
  let at = node;
  while (at.kind === 'select' && !at.optional) at = at.operand;
  return at.kind === 'name' ? at : undefined;
}
