import { withArticle } from '../diagnostics/message_text.ts';
import { adviseRoot } from './advice.ts';
import { guardsOf } from './guards.ts';
import type { Ast, Bind, Conditional, Logic, MacroNode, Node } from './ast.ts';
import { typeOfIndex, typeOfName, typeOfSelect } from './check_access.ts';
import { typeOfBinary, typeOfCall, typeOfUnary } from './check_calls.ts';
import { refuse, report, wantBool, type Checker } from './checking.ts';
import { unknownName } from './names.ts';
import { joinTypes } from './overloads.ts';
import type { Scope } from './scope.ts';
import type { Local, Typed } from './typed.ts';
import {
  BOOL,
  decayed,
  DYN,
  formatType,
  UNSET,
  type Type,
  BYTES,
  DOUBLE,
  INT,
  NULL,
  STRING,
  UINT,
} from './types.ts';
import { Double, Uint, type Value } from './values.ts';

export interface CheckOptions {
  /** Required type of the whole expression: `BOOL` for a rule. `dyn` passes and is tested at run time. */
  readonly wants?: Type;
  /** `lenient` leaves type errors to run time, as unchecked CEL does. Default `strict`. */
  readonly typing?: 'strict' | 'lenient';
}

/** Type-checks a tree in a scope. Reports all errors at once with their spans; never throws. */
export function checkAst<A>(ast: Ast, scope: Scope<A>, options: CheckOptions = {}): Typed<A> {
  const checker: Checker<A> = {
    ast,
    scope,
    lenient: options.typing === 'lenient',
    types: unknowns(ast.nodeCount),
    meanings: unknowns(ast.nodeCount),
    diagnostics: [],
    locals: undefined,
    guards: new Set(),
    typeOf: (node) => typeNode(checker as Checker<unknown>, node),
  };
  const type = decayed(checker.typeOf(ast.root));
  if (options.wants !== undefined) adviseRoot(checker, type, options.wants);
  const { types, meanings, diagnostics } = checker;
  return { ast, scope, type, types, meanings, diagnostics };
}

/** An array without holes; `Array.from({ length })` takes ten times as long. */
function unknowns(count: number): undefined[] {
  const made: undefined[] = [];
  for (let index = 0; index < count; index += 1) made.push(undefined);
  return made;
}

/** Determines and stores the types of a node and its children. */
function typeNode(checker: Checker<unknown>, node: Node): Type {
  const type = TYPING[node.kind](checker, node as never);
  checker.types[node.id] = type;
  return type;
}

type Typing = {
  readonly [K in Node['kind']]: (checker: Checker<unknown>, node: Extract<Node, { kind: K }>) => Type;
};

const TYPING: Typing = {
  literal: (_checker, node) => typeOfLiteral(node.value),
  name: (checker, node) => typeOfName(checker, node) ?? unknownName(checker, node, [node.name]),
  select: typeOfSelect,
  has: (checker, node) => {
    // `has(m.k)` reads `m.k` safely, so its operand needs no guard for it.
    const own = guardsOf(checker, node, true);
    guarded(checker, node.select, own);
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
    const keys = node.entries.map((entry) => decayed(checker.typeOf(entry.key)));
    const values = node.entries.map((entry) => memberType(checker, entry.value, entry.optional));
    return { kind: 'map', key: common(keys), value: common(values) };
  },
  message: (checker, node) =>
    refuse(
      checker,
      node,
      `\`${node.name}{…}\` creates a protobuf message; messages are not supported`,
      'expr.no_messages',
    ),
  macro: typeOfMacro,
  bind: typeOfBind,
};

function typeOfLogic<A>(checker: Checker<A>, node: Logic): Type {
  const added: string[] = [];
  for (const term of node.terms) {
    wantBool(checker, term, checker.typeOf(term), `beside \`${node.operator}\``);
    for (const guard of guardsOf(checker, term, node.operator === '&&')) {
      if (checker.guards.has(guard)) continue;
      checker.guards.add(guard);
      added.push(guard);
    }
  }
  for (const guard of added) checker.guards.delete(guard);
  return BOOL;
}

function typeOfConditional<A>(checker: Checker<A>, node: Conditional): Type {
  wantBool(checker, node.condition, checker.typeOf(node.condition), 'before `?`');
  const yes = guarded(checker, node.yes, guardsOf(checker, node.condition, true));
  const no = guarded(checker, node.no, guardsOf(checker, node.condition, false));
  const joined = joinTypes(yes, no);
  if (joined !== undefined) return joined;
  const message = `the two sides of \`? :\` are ${formatType(yes)} and ${formatType(no)}; they must have the same type`;
  report(checker, 'expr.no_such_overload', node.span, message, {
    hint: 'wrap one side in dyn() if that is intended',
  });
  return DYN;
}

function guarded<A>(checker: Checker<A>, node: Node, guards: readonly string[]): Type {
  const added = guards.filter((guard) => !checker.guards.has(guard));
  for (const guard of added) checker.guards.add(guard);
  const type = checker.typeOf(node);
  for (const guard of added) checker.guards.delete(guard);
  return type;
}

function memberType<A>(checker: Checker<A>, node: Node, isOptional: boolean): Type {
  const type = decayed(checker.typeOf(node));
  if (!isOptional) return type;
  if (type.kind === 'optional') return type.value;
  if (type.kind !== 'dyn') {
    report(
      checker,
      'expr.no_such_overload',
      node.span,
      `after \`?\` an optional is expected, this is ${withArticle(formatType(type))}`,
    );
  }
  return DYN;
}

/** The common type, or `dyn` for mixed types. */
function common(types: readonly Type[]): Type {
  let joined: Type = UNSET;
  for (const type of types) joined = joinTypes(joined, type) ?? DYN;
  return joined;
}

function typeOfMacro<A>(checker: Checker<A>, node: MacroNode): Type {
  const target = checker.typeOf(node.target);
  const variableTypes = target.kind === 'dyn' ? undefined : node.macro.variableTypes(target);
  if (variableTypes === undefined && target.kind !== 'dyn') {
    const message = `${node.macro.name}() cannot iterate over ${formatType(target)}`;
    report(checker, 'expr.no_such_overload', node.target.span, message);
  }
  const { locals: outer } = checker;
  const declared: Local[] = [];
  for (const [index, variable] of node.variables.entries()) {
    const local: Local = { name: variable.name, type: variableTypes?.[index] ?? DYN, outer: checker.locals };
    checker.locals = local;
    declared.push(local);
  }
  const bodies = node.bodies.map((body) => checker.typeOf(body));
  for (const condition of node.macro.conditions ?? []) {
    const body = node.bodies[condition];
    if (body !== undefined) wantBool(checker, body, bodies[condition]!, `in ${node.macro.name}()`);
  }
  checker.locals = outer;
  checker.meanings[node.id] = { means: 'declares', locals: declared };
  return node.macro.result(target, bodies.map(decayed));
}

function typeOfBind<A>(checker: Checker<A>, node: Bind): Type {
  const type = checker.typeOf(node.value);
  const { locals: outer } = checker;
  const local: Local = { name: node.variable.name, type, outer };
  checker.locals = local;
  const body = checker.typeOf(node.body);
  checker.locals = outer;
  checker.meanings[node.id] = { means: 'declares', locals: [local] };
  return body;
}

/** The type of a literal from the lexer. */
function typeOfLiteral(value: Value): Type {
  if (typeof value === 'string') return STRING;
  if (typeof value === 'boolean') return BOOL;
  if (typeof value === 'number' || typeof value === 'bigint') return INT;
  if (value instanceof Double) return DOUBLE;
  if (value instanceof Uint) return UINT;
  return value === null ? NULL : BYTES;
}
