import type { Call, Node } from '../cel/ast.ts';
import { isTextual } from '../cel/types.ts';
import type { Reader, TypedExpression } from './reader.ts';
import type { Term } from './term.ts';
import {
  LOWER_ASCII,
  UPPER_ASCII,
  cased,
  joined,
  replaced,
  sliced,
  split,
  trimmed,
  upTo,
} from './texts/functions.ts';
import { FIRST_OR_EMPTY, LIST_OR_FAIL, OR_FAIL, type Reading, elementAt } from './texts/readings.ts';
import { eachCased } from '../policy/env/functions/strings.ts';

/** Fields with names of their own; all other variables are named as in expressions. */
const NAMED: Readonly<Record<string, string>> = {
  'req.url.path': 'path',
  'req.method': 'method',
  'req.url.host': 'host',
  'req.url.scheme': 'scheme',
};

/** The field of the request that a node is, perhaps in another form such as lower case. */
export function fieldRead(typed: TypedExpression, node: Node): string | undefined {
  if (node.kind === 'call' && node.target !== undefined) return fieldRead(typed, node.target);
  const meaning = typed.meanings[node.id];
  return meaning?.means === 'variable' ? NAMED[meaning.variable.name] : undefined;
}

const SPACE = trimmed('trim', /\p{White_Space}/u);
/** White space as JavaScript trims it. */
export const JS_SPACE = trimmed('trim of JavaScript', /\s/);

/** Variables that are made of a header field. */
const OF_HEADERS: Readonly<Record<string, readonly [name: string, ...more: Reading[]]>> = {
  'req.user_agent': ['user-agent'],
  'req.location': ['location'],
  'req.content_type': [
    'content-type',
    upTo(';'),
    JS_SPACE,
    cased('toLowerCase', (text) => text.toLowerCase()),
  ],
};

/** The text that a node reads, if it is made of one field; null for everything else. */
export function textTerm(reader: Reader, given: Node): Term | null {
  const bound = reader.bound(given);
  if (bound !== undefined && 'term' in bound) return bound.term;
  const node = reader.resolved(given);
  const meaning = reader.typed.meanings[node.id];
  if (meaning?.means === 'variable') {
    const { variable } = meaning;
    if (!isTextual(variable.type)) return null;
    const [header, ...readings] = OF_HEADERS[variable.name] ?? [];
    if (header !== undefined) return { field: `header ${header}`, readings: [FIRST_OR_EMPTY, ...readings] };
    const named = NAMED[variable.name];
    if (named !== undefined) return { field: named, readings: [] };
    return { field: variable.name, readings: [variable.optional ? OR_FAIL : FIRST_OR_EMPTY] };
  }
  if (node.kind === 'call') return callTerm(reader, node);
  if (node.kind === 'select' && !node.optional && node.field === 'value') {
    const cookie = cookieTerm(reader, node.operand);
    if (cookie !== null) return cookie;
  }
  if (node.kind === 'index' && !node.optional) {
    const position = reader.constant(node.index);
    const list = typeof position === 'number' && position >= 0 ? listTerm(reader, node.operand) : null;
    if (list !== null) return and(list, elementAt(position as number));
  }
  if (isSentPath(reader, node)) return { field: 'req.url.raw_path', readings: [FIRST_OR_EMPTY] };
  const chain = isTextual(reader.typed.types[node.id] ?? { kind: 'dyn' }) ? chainOf(reader, node) : null;
  return chain === null ? null : { field: chain, readings: [OR_FAIL] };
}

/** The path as sent: a member of the URL, not a variable of its own. */
function isSentPath(reader: Reader, node: Node): boolean {
  if (node.kind !== 'select' || node.optional || node.field !== 'raw_path') return false;
  return reader.variable(node.operand) === 'req.url';
}

function and(term: Term, ...readings: readonly Reading[]): Term {
  return { ...term, readings: [...term.readings, ...readings] };
}

const LOWER = cased('lower', (text) => eachCased(text, 'toLowerCase'));
const UPPER = cased('upper', (text) => eachCased(text, 'toUpperCase'));

/** Functions of a text without arguments, by overload. */
const FUNCTIONS: Readonly<Record<string, Reading>> = {
  string_lower_ascii: LOWER_ASCII,
  string_upper_ascii: UPPER_ASCII,
  string_lower: LOWER,
  string_upper: UPPER,
  string_trim: SPACE,
};

function callTerm(reader: Reader, node: Call): Term | null {
  const overload = reader.overload(node);
  if (overload === null) return null;
  if (overload === 'get_req_cookie') return cookieTerm(reader, node);
  const [subject, ...rest] = reader.args(node);
  if (subject === undefined) return null;
  if (overload === 'list_join' || overload === 'list_join_string') {
    const between = rest[0] === undefined ? '' : reader.string(rest[0]);
    const list = between === null ? null : listTerm(reader, subject);
    return list === null ? null : and(list, joined(between!));
  }
  const reading =
    FUNCTIONS[overload] ??
    withArguments(
      overload,
      rest.map((each) => reader.constant(each)),
    );
  if (reading === null) return null;
  const term = textTerm(reader, subject);
  return term === null ? null : and(term, reading);
}

/** Functions of a text and constants. */
function withArguments(overload: string, args: readonly unknown[]): Reading | null {
  const [one, other, third] = args;
  if (overload === 'string_replace_string_string' || overload === 'string_replace_string_string_int') {
    if (typeof one !== 'string' || one === '' || typeof other !== 'string') return null;
    if (third !== undefined && typeof third !== 'number') return null;
    return replaced(
      one,
      Array.from(other, (each) => each.codePointAt(0)!),
      third ?? -1,
    );
  }
  if (typeof one !== 'number' || one < 0 || one > POSITION_LIMIT) return null;
  if (overload === 'string_char_at_int') return sliced(one, one + 1, one);
  if (overload === 'string_substring_int') return sliced(one, null, one);
  if (overload !== 'string_substring_int_int' || typeof other !== 'number') return null;
  return other < one || other > POSITION_LIMIT ? null : sliced(one, other, other);
}

/** Positions far behind would take too many states. */
const POSITION_LIMIT = 1_000;

/** The list of texts that a node reads: the values of a field, the pieces of a text. */
export function listTerm(reader: Reader, given: Node): Term | null {
  const node = reader.resolved(given);
  if (node.kind === 'call') {
    const overload = reader.overload(node);
    const [subject, separator] = reader.args(node);
    if (overload === 'string_split' || overload === 'string_split_string') {
      const between = separator === undefined ? ' ' : reader.string(separator);
      const term = between === null || between === '' ? null : textTerm(reader, subject!);
      return term === null ? null : and(term, split(between!));
    }
    const prefix = LIST_FUNCTIONS[overload ?? ''];
    const name = prefix === undefined ? null : reader.string(subject!);
    if (name === null) return null;
    return { field: `${prefix} ${prefix === 'query' ? name : name.toLowerCase()}`, readings: [] };
  }
  const member = memberOf(reader, node);
  const field = member === null ? null : mapField(reader, member.map, member.key);
  if (field !== null) return { field, readings: [LIST_OR_FAIL] };
  const type = reader.typed.types[node.id];
  const chain = type?.kind === 'list' && type.element.kind === 'string' ? chainOf(reader, node) : null;
  // The empty list and one that cannot be read are different.
  return chain === null ? null : { field: `list ${chain}`, readings: [], mayFailAsList: true };
}

const LIST_FUNCTIONS: Readonly<Record<string, string>> = {
  get_req_header: 'header',
  get_query_param: 'query',
  get_res_header: 'res.header',
};

/** The first cookie with a name, whose text is its value. */
function cookieTerm(reader: Reader, given: Node): Term | null {
  const bound = reader.bound(given);
  if (bound !== undefined && 'term' in bound) return bound.term;
  const node = reader.resolved(given);
  if (node.kind === 'call' && reader.overload(node) === 'get_req_cookie') {
    const name = reader.string(reader.args(node)[0]!);
    return name === null ? null : { field: `cookie ${name}`, readings: [elementAt(0)] };
  }
  if (node.kind !== 'index' || node.optional) return null;
  const position = reader.constant(node.index);
  if (typeof position !== 'number' || position < 0) return null;
  const list = listTerm(reader, node.operand);
  return list?.field.startsWith('cookie ') === true ? and(list, elementAt(position)) : null;
}

/** The entry of a map that a node reads. */
function memberOf(reader: Reader, node: Node): { readonly map: Node; readonly key: string } | null {
  if (node.kind === 'select' && !node.optional) return { map: node.operand, key: node.field };
  if (node.kind !== 'index' || node.optional) return null;
  const key = reader.string(node.index);
  return key === null ? null : { map: node.operand, key };
}

/** The field of an entry of a map of the request or the response. */
function mapField(reader: Reader, map: Node, key: string): string | null {
  const variable = reader.variable(map);
  if (variable === 'req.headers') return `header ${key.toLowerCase()}`;
  if (variable === 'res.headers') return `res.header ${key.toLowerCase()}`;
  if (variable === 'req.cookies') return `cookie ${key}`;
  // The members of the URL are variables, or fields of the variable `req.url`.
  const isParams =
    map.kind === 'select' &&
    !map.optional &&
    map.field === 'query_params' &&
    reader.variable(map.operand) === 'req.url';
  return isParams ? `query ${key}` : null;
}

const TESTS: Readonly<Record<string, string>> = {
  has_req_header: 'header',
  has_query_param: 'query',
  has_req_cookie: 'cookie',
  has_res_header: 'res.header',
};

/** The field whose presence a call or a `has` tests; null for all others. */
export function testedField(reader: Reader, node: Node): string | null {
  if (node.kind === 'has') return mapField(reader, node.select.operand, node.select.field);
  if (node.kind === 'binary' && node.operator === 'in') {
    const key = reader.string(node.left);
    return key === null ? null : mapField(reader, node.right, key);
  }
  const prefix = node.kind === 'call' ? TESTS[reader.overload(node) ?? ''] : undefined;
  const name = prefix === undefined ? null : reader.string(reader.args(node)[0]!);
  if (name === null) return null;
  return `${prefix} ${prefix === 'header' || prefix === 'res.header' ? name.toLowerCase() : name}`;
}

/**
 * The name of a value that something else than the request decides: a variable, or a member of one, such as the
 * result of an action or a fact about the address.
 */
export function chainOf(reader: Reader, given: Node): string | null {
  const node = reader.resolved(given);
  const variable = reader.variable(node);
  if (variable !== null) return variable;
  if (node.kind === 'select' && !node.optional) {
    const operand = chainOf(reader, node.operand);
    return operand === null ? null : memberNamed(operand, node.field);
  }
  if (node.kind !== 'index' || node.optional) return null;
  const key = reader.constant(node.index);
  if (typeof key !== 'string' && typeof key !== 'number') return null;
  const operand = chainOf(reader, node.operand);
  if (operand === null) return null;
  return typeof key === 'string' ? memberNamed(operand, key) : `${operand}[${key}]`;
}

/** The name of a member of a value; a key with dots in it is not the way to a member of a member. */
export function memberNamed(operand: string, key: string): string {
  return /^\w+$/.test(key) ? `${operand}.${key}` : `${operand}[${JSON.stringify(key)}]`;
}
