import { childrenOf, isNode, walk } from './tree.ts';
import type { Node } from './tree.ts';

/** A use of a name that nothing in its file declares: a global. */
export interface GlobalUse {
  readonly name: string;
  readonly node: Node;
  /** The node around it, such as the call or the member access. */
  readonly parent: Node;
}

export const FUNCTIONS = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const SCOPES =
  /^(?:BlockStatement|For(?:In|Of)?Statement|CatchClause|SwitchStatement|Class(?:Declaration|Expression)|StaticBlock)$/;
/** Nodes of types, in which a name is not a value. An expression with a type is the `expression` of its node. */
const TYPES =
  /^TS(?!AsExpression|SatisfiesExpression|NonNullExpression|TypeAssertion|InstantiationExpression)/;

const known = new WeakMap<Node, readonly GlobalUse[]>();

/** All uses of names as values that no declaration around them binds. Types, keys, comments and strings do not count. */
export function globalUses(program: Node): readonly GlobalUse[] {
  const found = known.get(program);
  if (found !== undefined) return found;
  const uses: GlobalUse[] = [];
  visit(program, program, [new Set(declaredIn(program))], uses);
  known.set(program, uses);
  return uses;
}

function visit(node: Node, parent: Node, scopes: readonly ReadonlySet<string>[], uses: GlobalUse[]): void {
  if (TYPES.test(node.type)) return;
  if (node.type === 'Identifier') {
    const name = String(node['name']);
    if (isValue(node, parent) && !scopes.some((scope) => scope.has(name))) uses.push({ name, node, parent });
    return;
  }
  const opens = FUNCTIONS.test(node.type) || SCOPES.test(node.type);
  const inner = opens ? [...scopes, new Set(declaredIn(node))] : scopes;
  for (const child of childrenOf(node)) visit(child, node, inner, uses);
}

/** Whether an identifier stands for a value, not for a key or a label. */
function isValue(node: Node, parent: Node): boolean {
  switch (parent.type) {
    case 'MemberExpression':
      return parent['object'] === node || parent['computed'] === true;
    case 'Property':
      return parent['value'] === node || parent['computed'] === true;
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'AccessorProperty':
      return parent['value'] === node || parent['computed'] === true;
    case 'LabeledStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
    case 'ImportSpecifier':
    case 'ImportDefaultSpecifier':
    case 'ImportNamespaceSpecifier':
    case 'ExportSpecifier':
    case 'ImportAttribute':
      return false;
    default:
      return true;
  }
}

/** Names that a scope binds: its parameters, and what is declared inside of it, down to the next function. */
function declaredIn(scope: Node): string[] {
  const names: string[] = [];
  if (isNode(scope['id']) && scope['id'].type === 'Identifier') names.push(String(scope['id']['name']));
  for (const parameter of Array.isArray(scope['params']) ? scope['params'].filter(isNode) : [])
    bind(parameter, names);
  if (isNode(scope['param'])) bind(scope['param'], names);
  const collect = (node: Node, isNested: boolean): void => {
    if (FUNCTIONS.test(node.type) && node.type !== 'FunctionDeclaration') return;
    // Out of an inner block only `var` reaches this scope.
    const isVar = node.type === 'VariableDeclaration' && node['kind'] === 'var';
    if (isVar || !isNested) names.push(...namesBoundBy(node));
    if (node.type === 'FunctionDeclaration') return;
    for (const child of childrenOf(node)) collect(child, isNested || SCOPES.test(node.type));
  };
  for (const child of childrenOf(scope)) collect(child, false);
  return names;
}

/** Names that one declaration binds in its scope. */
function namesBoundBy(node: Node): string[] {
  const names: string[] = [];
  if (node.type === 'VariableDeclaration') {
    for (const declarator of childrenOf(node)) if (isNode(declarator['id'])) bind(declarator['id'], names);
  }
  const isNamed = /^(?:Function|Class)Declaration$|^TSEnumDeclaration$/.test(node.type);
  if (isNamed && isNode(node['id'])) bind(node['id'], names);
  const isImport = /^Import(?:Default|Namespace)?Specifier$/.test(node.type);
  if (isImport && isNode(node['local'])) bind(node['local'], names);
  return names;
}

/** The names in a pattern: `{ a, b: [c = 1], ...rest }`. */
function bind(pattern: Node, names: string[]): void {
  if (pattern.type === 'Identifier') names.push(String(pattern['name']));
  else if (pattern.type === 'AssignmentPattern') bind(pattern['left'] as Node, names);
  else if (pattern.type === 'RestElement') bind(pattern['argument'] as Node, names);
  else if (pattern.type === 'Property') bind(pattern['value'] as Node, names);
  else if (pattern.type === 'TSParameterProperty') bind(pattern['parameter'] as Node, names);
  else for (const child of childrenOf(pattern)) bind(child, names);
}

/** Every node of some types below another. */
export function nodesOf(node: Node, types: RegExp): Node[] {
  const found: Node[] = [];
  walk(node, (inner) => {
    if (types.test(inner.type)) found.push(inner);
  });
  return found;
}
