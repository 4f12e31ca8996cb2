import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { adviseBinary, adviseCall, adviseIndex, adviseRoot, guardsOf } from './advice.ts';
import { dottedPath } from './ast.ts';
import type {
  Ast,
  Bind,
  Binary,
  Call,
  Conditional,
  Index,
  Logic,
  MacroNode,
  Node,
  Select,
  Unary,
} from './ast.ts';
import { report } from './checking.ts';
import type { Checker } from './checking.ts';
import type { FunctionRow } from './function_table.ts';
import { isUnavailable } from './scope.ts';
import { findName, functionCandidates, unknownField, unknownFunction, unknownName } from './names.ts';
import { joinTypes, matchOverloads } from './overloads.ts';
import type { Scope } from './scope.ts';
import { fieldOf } from './scope.ts';
import type { Local, Typed } from './typed.ts';
import { BOOL, decayed, DYN, formatType, optional, UNSET } from './types.ts';
import type { Type } from './types.ts';
import { typeOfLiteral } from './literal_types.ts';

export interface CheckOptions {
  /** What the whole must be: `BOOL` for a rule. `dyn` passes and is tested when it runs. */
  readonly wants?: Type;
  /** `lenient` leaves type errors to run time, as CEL without a checker does. Default `strict`. */
  readonly typing?: 'strict' | 'lenient';
}

/** Types a tree in a scope. All errors at once, each with its span; never throws. */
export function checkAst<A>(ast: Ast, scope: Scope<A>, options: CheckOptions = {}): Typed<A> {
  const checker: Checker<A> = {
    ast,
    scope,
    lenient: options.typing === 'lenient',
    types: Array.from({ length: ast.nodeCount }),
    meanings: Array.from({ length: ast.nodeCount }),
    diagnostics: [],
    locals: undefined,
    guards: new Set(),
  };
  const type = decayed(typeOf(checker, ast.root));
  if (options.wants !== undefined) adviseRoot(checker, type, options.wants);
  const { types, meanings, diagnostics } = checker;
  return { ast, scope, type, types, meanings, diagnostics };
}

/** Types a node and those below it, and remembers the type. */
export function typeOf<A>(checker: Checker<A>, node: Node): Type {
  const type = TYPING[node.kind](checker as Checker<unknown>, node as never);
  checker.types[node.id] = type;
  return type;
}

/** Reports an error and gives the type that silences what would follow from it. */
function refuse<A>(
  checker: Checker<A>,
  node: Node,
  says: string,
  code: string,
  more: Partial<Diagnostic> = {},
): Type {
  report(checker, code, node.span, says, more);
  checker.meanings[node.id] = { means: 'nothing', says };
  return DYN;
}

type Typing = {
  readonly [K in Node['kind']]: (checker: Checker<unknown>, node: Extract<Node, { kind: K }>) => Type;
};

const TYPING: Typing = {
  literal: (_checker, node) => typeOfLiteral(node.value),
  name: (checker, node) => typeOfName(checker, node) ?? unknownName(checker, node, [node.name]),
  select: typeOfSelect,
  has: (checker, node) => {
    typeOf(checker, node.select);
    return BOOL;
  },
  index: typeOfIndex,
  call: typeOfCall,
  unary: typeOfUnary,
  binary: typeOfBinary,
  logic: typeOfLogic,
  conditional: typeOfConditional,
  list: (checker, node) => {
    const elements = node.elements.map((element) => memberType(checker, element.node, element.optional));
    return { kind: 'list', element: common(elements) };
  },
  map: (checker, node) => {
    const keys = node.entries.map((entry) => decayed(typeOf(checker, entry.key)));
    const values = node.entries.map((entry) => memberType(checker, entry.value, entry.optional));
    return { kind: 'map', key: common(keys), value: common(values) };
  },
  message: (checker, node) =>
    refuse(
      checker,
      node,
      `\`${node.name}{…}\` makes a protobuf message; this language has none`,
      'expr.no_messages',
    ),
  macro: typeOfMacro,
  bind: typeOfBind,
};

function typeOfName<A>(checker: Checker<A>, node: Node): Type | undefined {
  const found = findName(checker, node);
  if (found === undefined) return undefined;
  checker.meanings[node.id] = found.meaning;
  return found.type;
}

function typeOfSelect<A>(checker: Checker<A>, node: Select): Type {
  const named = node.optional ? undefined : typeOfName(checker, node);
  if (named !== undefined) return named;
  const path = dottedPath(node.operand);
  if (path !== undefined && !node.optional && isNamespace(checker, node.operand, path)) {
    return unknownName(checker, node, [...path, node.field]);
  }
  const operand = typeOf(checker, node.operand);
  if (operand.kind === 'optional') return optionalOf(fieldType(checker, node, operand.value));
  const type = fieldType(checker, node, operand);
  return node.optional ? optionalOf(type) : type;
}

/** A prefix of variables that is itself neither variable nor loop variable. */
function isNamespace<A>(checker: Checker<A>, operand: Node, path: readonly string[]): boolean {
  if (findName(checker, operand) !== undefined) return false;
  const name = path.join('.');
  return checker.scope.namespaces.has(name) || isUnavailable(checker.scope, name);
}

function fieldType<A>(checker: Checker<A>, node: Select, operand: Type): Type {
  if (operand.kind === 'dyn') return DYN;
  if (operand.kind === 'map') {
    const fits = operand.key.kind === 'string' || operand.key.kind === 'dyn';
    if (fits) return operand.value;
    return refuse(
      checker,
      node,
      `the map's keys are ${formatType(operand.key)}, not names`,
      'expr.no_such_overload',
    );
  }
  const field = fieldOf(operand, node.field);
  if (field === undefined) return unknownField(checker, node, operand);
  checker.meanings[node.id] = { means: 'field', field };
  return field.type;
}

function optionalOf(type: Type): Type {
  return type.kind === 'optional' ? type : optional(type);
}

function typeOfIndex<A>(checker: Checker<A>, node: Index): Type {
  const operand = typeOf(checker, node.operand);
  const index = decayed(typeOf(checker, node.index));
  if (operand.kind === 'optional') return optionalOf(elementType(checker, node, operand.value, index));
  const type = elementType(checker, node, operand, index);
  if (!node.optional) adviseIndex(checker, node, operand);
  return node.optional ? optionalOf(type) : type;
}

function elementType<A>(checker: Checker<A>, node: Index, operand: Type, index: Type): Type {
  if (operand.kind === 'dyn') return DYN;
  if (operand.kind === 'list') {
    if (index.kind === 'int' || index.kind === 'dyn') return operand.element;
    return refuse(
      checker,
      node,
      `a list is indexed by an int, not by a ${formatType(index)}`,
      'expr.no_such_overload',
    );
  }
  if (operand.kind !== 'map') {
    return refuse(
      checker,
      node,
      `a value of type ${formatType(operand)} cannot be indexed`,
      'expr.no_such_overload',
    );
  }
  if (joinTypes(operand.key, index) !== undefined) return operand.value;
  const says = `the map's keys are ${formatType(operand.key)}, not ${formatType(index)}`;
  return refuse(checker, node, says, 'expr.no_such_overload');
}

function typeOfCall<A>(checker: Checker<A>, node: Call): Type {
  const target = functionCandidates(checker, node);
  const args = target.receiver === undefined ? node.args : [target.receiver, ...node.args];
  const types = args.map((argument) => typeOf(checker, argument));
  if (target.row === undefined) return unknownFunction(checker, node, types);
  return resolve(checker, node, target.row, {
    args,
    types,
    style: target.receiver === undefined ? 'global' : 'method',
  });
}

interface CallSite {
  readonly args: readonly Node[];
  readonly types: readonly Type[];
  readonly style: 'global' | 'method';
}

function resolve<A>(checker: Checker<A>, node: Node, row: FunctionRow<A>, site: CallSite): Type {
  const { args, types, style } = site;
  const match = matchOverloads(row.overloads, style, types);
  if (match !== undefined) {
    const { candidates, exact } = match;
    checker.meanings[node.id] = { means: 'call', args, candidates, exact };
    return match.result;
  }
  adviseCall(checker, node, row, types);
  // Without a checker the values decide; with one, the error above forbids the program.
  const candidates = row.overloads.filter(
    (overload) => overload.style === 'both' || overload.style === style,
  );
  checker.meanings[node.id] = { means: 'call', args, candidates, exact: false };
  return DYN;
}

function typeOfUnary<A>(checker: Checker<A>, node: Unary): Type {
  const type = typeOf(checker, node.operand);
  if (node.operator === '-') {
    const row = checker.scope.functions.functions.get('-_');
    return row === undefined
      ? DYN
      : resolve(checker, node, row, { args: [node.operand], types: [type], style: 'global' });
  }
  wantBool(checker, node.operand, type, 'after `!`');
  return BOOL;
}

function typeOfBinary<A>(checker: Checker<A>, node: Binary): Type {
  const types = [typeOf(checker, node.left), typeOf(checker, node.right)];
  if (adviseBinary(checker, node, types[0]!, types[1]!)) {
    checker.meanings[node.id] = { means: 'nothing', says: 'these types cannot be compared' };
    return BOOL;
  }
  const row = checker.scope.functions.functions.get(node.operator);
  if (row === undefined) return DYN;
  return resolve(checker, node, row, { args: [node.left, node.right], types, style: 'global' });
}

function wantBool<A>(checker: Checker<A>, node: Node, type: Type, where: string): void {
  if (type.kind === 'bool' || type.kind === 'dyn') return;
  report(checker, 'expr.not_bool', node.span, `a bool is expected ${where}, this is a ${formatType(type)}`);
}

function typeOfLogic<A>(checker: Checker<A>, node: Logic): Type {
  const added: string[] = [];
  for (const term of node.terms) {
    wantBool(checker, term, typeOf(checker, term), `beside \`${node.operator}\``);
    for (const guard of guardsOf(checker.ast.source, term, node.operator === '&&')) {
      if (checker.guards.has(guard)) continue;
      checker.guards.add(guard);
      added.push(guard);
    }
  }
  for (const guard of added) checker.guards.delete(guard);
  return BOOL;
}

function typeOfConditional<A>(checker: Checker<A>, node: Conditional): Type {
  wantBool(checker, node.condition, typeOf(checker, node.condition), 'before `?`');
  const yes = guarded(checker, node.yes, guardsOf(checker.ast.source, node.condition, true));
  const no = guarded(checker, node.no, guardsOf(checker.ast.source, node.condition, false));
  const joined = joinTypes(yes, no);
  if (joined !== undefined) return joined;
  const says = `the two sides of \`? :\` are ${formatType(yes)} and ${formatType(no)}; they must be of one type`;
  report(checker, 'expr.no_such_overload', node.span, says, {
    hint: 'wrap one side in dyn() when that is meant',
  });
  return DYN;
}

function guarded<A>(checker: Checker<A>, node: Node, guards: readonly string[]): Type {
  const added = guards.filter((guard) => !checker.guards.has(guard));
  for (const guard of added) checker.guards.add(guard);
  const type = typeOf(checker, node);
  for (const guard of added) checker.guards.delete(guard);
  return type;
}

function memberType<A>(checker: Checker<A>, node: Node, isOptional: boolean): Type {
  const type = decayed(typeOf(checker, node));
  if (!isOptional) return type;
  if (type.kind === 'optional') return type.value;
  if (type.kind !== 'dyn') {
    report(
      checker,
      'expr.no_such_overload',
      node.span,
      `after \`?\` an optional is expected, this is a ${formatType(type)}`,
    );
  }
  return DYN;
}

/** One type for all, or `dyn` for a mixture. */
function common(types: readonly Type[]): Type {
  let joined: Type = UNSET;
  for (const type of types) joined = joinTypes(joined, type) ?? DYN;
  return joined;
}

function typeOfMacro<A>(checker: Checker<A>, node: MacroNode): Type {
  const target = typeOf(checker, node.target);
  const variableTypes = target.kind === 'dyn' ? undefined : node.macro.variableTypes(target);
  if (variableTypes === undefined && target.kind !== 'dyn') {
    const says = `${node.macro.name}() cannot go over a ${formatType(target)}`;
    report(checker, 'expr.no_such_overload', node.target.span, says);
  }
  const { locals: outer } = checker;
  const declared: Local[] = [];
  for (const [index, variable] of node.variables.entries()) {
    const local: Local = { name: variable.name, type: variableTypes?.[index] ?? DYN, outer: checker.locals };
    checker.locals = local;
    declared.push(local);
  }
  const bodies = node.bodies.map((body) => typeOf(checker, body));
  for (const condition of node.macro.conditions ?? []) {
    const body = node.bodies[condition];
    if (body !== undefined) wantBool(checker, body, bodies[condition]!, `in ${node.macro.name}()`);
  }
  checker.locals = outer;
  checker.meanings[node.id] = { means: 'declares', locals: declared };
  return node.macro.result(target, bodies.map(decayed));
}

function typeOfBind<A>(checker: Checker<A>, node: Bind): Type {
  const type = typeOf(checker, node.value);
  const { locals: outer } = checker;
  const local: Local = { name: node.variable.name, type, outer };
  checker.locals = local;
  const body = typeOf(checker, node.body);
  checker.locals = outer;
  checker.meanings[node.id] = { means: 'declares', locals: [local] };
  return body;
}
