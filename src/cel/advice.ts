import { withArticle } from '../diagnostics/message_text.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Binary, Call, Index, Node, Select } from './ast.ts';
import { type Checker, report, sourceOf } from './checking.ts';
import type { FunctionRow } from './function_table.ts';
import { guardKey, guardOf, keyOfCall } from './guards.ts';
import { searchMeant } from './habits.ts';
import { joinTypes } from './overloads.ts';
import { type Type, formatType, isTextual } from './types.ts';

/** Findings based on common mistakes in policy expressions, beyond type errors. */

/** A rule whose type is not bool. */
export function adviseRoot<A>(checker: Checker<A>, type: Type, wants: Type): void {
  if (type.kind === 'dyn' || joinTypes(type, wants) !== undefined) return;
  const { root } = checker.ast;
  const text = sourceOf(checker, root);
  const message = `the expression has type ${formatType(type)}, but ${formatType(wants)} is required`;
  const code = wants.kind === 'bool' ? 'expr.not_bool' : 'expr.wrong_type';
  if (wants.kind !== 'bool') return report(checker, code, root.span, message);
  const instead = truthTest(type, text, root.kind !== 'conditional' && root.kind !== 'logic');
  if (instead === undefined) return report(checker, code, root.span, message);
  const fix = { message: `write \`${instead}\``, span: root.span, text: instead, safe: false };
  return report(checker, code, root.span, message, { hint: `did you mean \`${instead}\`?`, fix });
}

function truthTest(type: Type, text: string, isSimple: boolean): string | undefined {
  if (type.kind === 'list' || type.kind === 'map') return `size(${text}) > 0`;
  const operand = isSimple ? text : `(${text})`;
  if (isTextual(type)) return `${operand} != ''`;
  return type.kind === 'int' ? `${operand} != 0` : undefined;
}

/** Whether the binary was rejected here with a better message than "no such overload". */
export function adviseBinary<A>(checker: Checker<A>, node: Binary, left: Type, right: Type): boolean {
  if (node.operator === 'in') {
    adviseMembership(checker, node, right);
    return false;
  }
  if (node.operator !== '==' && node.operator !== '!=') return false;
  if (joinTypes(left, right) !== undefined || nullTest(left, right)) return false;
  if (isTextual(left) && right.kind === 'list')
    return listAgainstText(checker, node, node.right, node.left, right);
  if (isTextual(right) && left.kind === 'list')
    return listAgainstText(checker, node, node.left, node.right, left);
  return differentTypes(checker, node, left, right);
}

function nullTest(left: Type, right: Type): boolean {
  return left.kind === 'null' || right.kind === 'null';
}

function listAgainstText<A>(checker: Checker<A>, node: Binary, list: Node, text: Node, type: Type): boolean {
  const membership = `${sourceOf(checker, text)} in ${sourceOf(checker, list)}`;
  const instead = node.operator === '==' ? membership : `!(${membership})`;
  const message = isHeader(checker, list)
    ? `a header is a list of values (${formatType(type)}) and never equals a string`
    : `${withArticle(formatType(type))} never equals a string`;
  const fix = { message: `write \`${instead}\``, span: node.span, text: instead, safe: false };
  report(checker, 'expr.list_against_string', node.span, message, {
    hint: `did you mean \`${instead}\`?`,
    fix,
  });
  return true;
}

function differentTypes<A>(checker: Checker<A>, node: Binary, left: Type, right: Type): boolean {
  const message = `${withArticle(formatType(left))} is compared with ${withArticle(formatType(right))}; they are never equal`;
  for (const [literal, other] of [
    [node.left, right],
    [node.right, left],
  ] as const) {
    if (literal.kind !== 'literal') continue;
    const text = respelled(literal.value, other);
    if (text === undefined) continue;
    const fix = { message: `write ${text}`, span: literal.span, text, safe: false };
    const sides = [node.left, node.right].map((side) => (side === literal ? text : sourceOf(checker, side)));
    const hint = `did you mean \`${sides.join(` ${node.operator} `)}\`?`;
    report(checker, 'expr.never_equal', node.span, message, { hint, fix });
    return true;
  }
  const hint =
    isTextual(left) || isTextual(right) ? 'convert one side with int() or string()' : 'convert one side';
  report(checker, 'expr.never_equal', node.span, message, { hint });
  return true;
}

/** A literal rewritten as the other type: `'5'` for 5, 5 for `'5'`, `5.0`, `5u`. */
function respelled(value: unknown, wanted: Type): string | undefined {
  if (isTextual(wanted) && (typeof value === 'number' || typeof value === 'boolean')) return `'${value}'`;
  if (wanted.kind === 'int' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return value;
  if (wanted.kind === 'bool' && (value === 'true' || value === 'false')) return value;
  if (wanted.kind === 'double' && typeof value === 'number') return `${value}.0`;
  return wanted.kind === 'uint' && typeof value === 'number' && value >= 0 ? `${value}u` : undefined;
}

/** `'GPTBot' in req.headers['user-agent']` is true only for a header that is exactly `GPTBot`. */
function adviseMembership<A>(checker: Checker<A>, node: Binary, right: Type): void {
  const isExact = right.kind === 'list' && isTextual(right.element) && isHeader(checker, node.right);
  if (!isExact || node.left.kind !== 'literal' || typeof node.left.value !== 'string') return;
  const message = `\`in\` compares whole values: it is true only for a header that is exactly '${node.left.value}'`;
  const instead = `${sourceOf(checker, node.right)}.exists(value, value.contains(${sourceOf(checker, node.left)}))`;
  const fix = { message: 'search inside the values', span: node.span, text: instead, safe: false };
  report(checker, 'expr.exact_membership', node.span, message, {
    severity: 'warning',
    hint: 'to search inside, use contains',
    fix,
  });
}

/** Whether a node reads a header: `headers['x']` or `headers.x`. */
function isHeader<A>(checker: Checker<A>, node: Node): boolean {
  if (node.kind !== 'index' && node.kind !== 'select') return false;
  const type = checker.types[node.operand.id];
  return type?.kind === 'map' && type.foldsCase === true;
}

/** A constant key of a map of the scope, in `map[key]`, `map.key` or `f(key)`. */
interface KeyRead {
  readonly map: string;
  readonly key: string;
  /** The key as written, in quotes. */
  readonly literal: string;
  readonly foldsCase: boolean;
}

/** Warns about reading a key that may be missing, which is a run-time error. Types do not show which keys a map of any values has. */
export function adviseKey<A>(checker: Checker<A>, node: Index | Select, operand: Type): void {
  if (node.kind === 'index' && node.operand.kind === 'call')
    return adviseElement(checker, node, node.operand);
  if (operand.kind !== 'map' || operand.value.kind === 'dyn' || !isOfScope(checker, node.operand)) return;
  const map = sourceOf(checker, node.operand);
  const foldsCase = operand.foldsCase === true;
  if (node.kind === 'select') {
    const read = { map, key: node.field, literal: `'${node.field}'`, foldsCase };
    return warnOfKey(checker, node, read, `${map}.?${node.field}`);
  }
  if (node.index.kind !== 'literal' || typeof node.index.value !== 'string') return;
  const literal = sourceOf(checker, node.index);
  const instead = `${map}[?${literal}]${operand.value.kind === 'list' ? '.orValue([])' : ''}`;
  warnOfKey(checker, node, { map, key: node.index.value, literal, foldsCase }, instead);
}

/** Whether a node is a variable or a field of one; maps that the expression itself creates are not checked. */
function isOfScope<A>(checker: Checker<A>, node: Node): boolean {
  const means = checker.meanings[node.id]?.means;
  return means === 'variable' || means === 'field';
}

function warnOfKey<A>(checker: Checker<A>, node: Node, read: KeyRead, instead: string): void {
  if (checker.guards.has(guardKey(read.map, read.key, read.foldsCase))) return;
  const message = `without '${read.key}' this is an error, and the rule fails`;
  report(checker, 'expr.may_be_missing', node.span, message, {
    severity: 'warning',
    hint: `test \`${read.literal} in ${read.map} &&\` first, or use \`${instead}\``,
  });
}

/** The same for elements of lists that are empty without a key: `getReqHeader('x')[0]`. */
function adviseElement<A>(checker: Checker<A>, node: Index, call: Call): void {
  const read = keyOfCall(checker, call, 'list');
  if (read === undefined || checker.guards.has(guardKey(read.map, read.key, read.foldsCase))) return;
  report(
    checker,
    'expr.may_be_missing',
    node.span,
    `without '${read.key}' the list is empty, and the rule fails`,
    {
      severity: 'warning',
      hint: `test \`'${read.key}' in ${read.map} &&\` first`,
    },
  );
}

/** The same for functions that read a key: `getReqCookie('x')` is an error if the cookie is missing. */
export function adviseKeyOfCall<A>(checker: Checker<A>, node: Call): void {
  const read = keyOfCall(checker, node, 'read');
  if (read === undefined || checker.guards.has(guardKey(read.map, read.key, false))) return;
  const message = `without '${read.key}' this is an error, and the rule fails`;
  report(checker, 'expr.may_be_missing', node.span, message, {
    severity: 'warning',
    hint: `test \`'${read.key}' in ${read.map} &&\` first`,
  });
}

/** Warns about reading a variable or field that is often absent. */
export function adviseAbsence<A>(checker: Checker<A>, node: Node): void {
  const path = sourceOf(checker, node);
  if (checker.guards.has(guardOf(path))) return;
  report(checker, 'expr.may_be_missing', node.span, `\`${path}\` is absent if it is not known`, {
    severity: 'warning',
    hint: `test \`has(${path}) &&\` first`,
  });
}

/** No overload accepts these arguments. */
export function adviseCall<A>(
  checker: Checker<A>,
  node: Node,
  row: FunctionRow<A>,
  types: readonly Type[],
): void {
  const given = types.map(formatType).join(', ');
  if (node.kind === 'call') {
    const allowed = row.overloads.map(
      (overload) => `${row.name}(${overload.params.map(formatType).join(', ')})`,
    );
    const notes = [`it takes: ${[...new Set(allowed)].slice(0, 8).join(', ')}`];
    const wrongStyle = styleProblem(node, row);
    const search = searchMeant(node, types, (of) => sourceOf(checker, of));
    const fix = search && { message: 'search inside the values', span: node.span, text: search, safe: false };
    const message = wrongStyle ?? `${row.name}() does not accept (${given})`;
    const hint = fix && { hint: `did you mean \`${search}\`?`, fix };
    report(checker, 'expr.no_such_overload', node.nameSpan, message, { notes, ...hint });
    return;
  }
  const operator = row.name === '-_' ? '-' : row.name;
  const more =
    operator === '+' && types.some(isTextual)
      ? { hint: 'convert the other side with string()' }
      : (operandMeant(checker, node, types) ?? literalMeant(node, types));
  report(checker, 'expr.no_such_overload', node.span, `\`${operator}\` does not accept (${given})`, more);
}

/** What replaces an operator that does not take these operands: a test of a range, or of an absent value. */
function operandMeant<A>(
  checker: Checker<A>,
  node: Node,
  [left, right]: readonly Type[],
): Partial<Diagnostic> | undefined {
  if (node.kind !== 'binary') return undefined;
  const { operator } = node;
  const isAddress = left?.kind === 'object' && left.name === 'IpAddress';
  if (operator === 'in' && isAddress && right?.kind === 'string') {
    const text = `inCidrRange(${sourceOf(checker, node.left)}, ${sourceOf(checker, node.right)})`;
    return meantBy(node, text);
  }
  if ((operator !== '==' && operator !== '!=') || right?.kind !== 'null') return undefined;
  const read = node.left;
  if (read.kind === 'index') {
    const test = `${sourceOf(checker, read.index)} in ${sourceOf(checker, read.operand)}`;
    return meantBy(node, operator === '!=' ? test : `!(${test})`);
  }
  const test = `has(${sourceOf(checker, read)})`;
  return read.kind === 'select' ? meantBy(node, operator === '!=' ? test : `!${test}`) : undefined;
}

function meantBy(node: Node, text: string): Partial<Diagnostic> {
  const fix = { message: `write \`${text}\``, span: node.span, text, safe: false };
  return { hint: `did you mean \`${text}\`?`, fix };
}

/** `status < '200'`: suggests the literal with the type of the other side. */
function literalMeant(node: Node, [left, right]: readonly Type[]): Partial<Diagnostic> {
  if (node.kind !== 'binary' || left === undefined || right === undefined) return {};
  for (const [literal, other] of [
    [node.left, right],
    [node.right, left],
  ] as const) {
    const text = literal.kind === 'literal' ? respelled(literal.value, other) : undefined;
    if (text === undefined) continue;
    const fix = { message: `write ${text}`, span: literal.span, text, safe: false };
    return { hint: `did you mean ${text}?`, fix };
  }
  return {};
}

function styleProblem<A>(node: Call, row: FunctionRow<A>): string | undefined {
  // `secrets.get` is a function with a qualified name.
  const isMethod = node.target !== undefined && !row.name.includes('.');
  const wanted = isMethod ? 'method' : 'global';
  if (row.overloads.some((overload) => overload.style === wanted || overload.style === 'both'))
    return undefined;
  return wanted === 'global'
    ? `${row.name}() is a method: write value.${row.name}(…)`
    : `${row.name}() is not a method: write ${row.name}(…)`;
}
