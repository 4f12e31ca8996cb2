import { dottedPath } from './ast.ts';
import type { Element, Entry, LoopVariable, MessageField, Node } from './ast.ts';
import { SyntaxProblem } from './escapes.ts';
import type { MacroRow } from './function_table.ts';
import { DASH_MESSAGE, dashedField } from './habits.ts';
import { advance, intValue } from './lexer.ts';
import { type Parser, at, expect, nextId, nextIdAbove, spanFrom, take, unexpected } from './reader.ts';
import { Double } from './values.ts';

/** An int or double; `start` is that of its minus if there is one. */
export function numberLiteral(parser: Parser, start: number, negative: boolean): Node {
  const token = parser.at;
  let value = token.value;
  if (token.kind === 'int') {
    const int = intValue(token.word, negative);
    if (int === undefined) {
      throw new SyntaxProblem(
        `\`${token.text.slice(start, token.end)}\` is beyond the range of int`,
        start,
        token.end,
      );
    }
    value = int;
  } else if (negative && value instanceof Double) value = new Double(-value.value);
  advance(token);
  return { kind: 'literal', id: nextId(parser), span: spanFrom(parser, start), value };
}

type Special = 'reserved' | 'operator' | { readonly value: boolean | null };

/** Words that cannot be names. Reserved ones (language definition, Syntax: RESERVED) can be fields. */
const WORDS: ReadonlyMap<string, Special> = new Map<string, Special>([
  ...'as break const continue else for function if import let loop package namespace return var void while'
    .split(' ')
    .map((word) => [word, 'reserved'] as const),
  ['in', 'operator'],
  ['true', { value: true }],
  ['false', { value: false }],
  ['null', { value: null }],
]);

export function primary(parser: Parser): Node {
  const token = parser.at;
  const { start } = token;
  if (token.kind === 'int' || token.kind === 'double') return numberLiteral(parser, start, false);
  if (token.kind === 'literal') {
    const { value } = token;
    advance(token);
    return { kind: 'literal', id: nextId(parser), span: spanFrom(parser, start), value };
  }
  if (token.kind === 'identifier') return name(parser, start, false);
  if (take(parser, '.')) return name(parser, start, true);
  if (take(parser, '(')) {
    const inner = parser.parse(parser);
    expect(parser, ')');
    return inner;
  }
  if (take(parser, '[')) return list(parser, start);
  if (take(parser, '{')) return mapLiteral(parser, start);
  throw unexpected(parser, 'a value');
}

function name(parser: Parser, start: number, absolute: boolean): Node {
  const token = parser.at;
  if (token.kind !== 'identifier') throw unexpected(parser, 'a name');
  const { word } = token;
  const special = WORDS.get(word);
  if (special !== undefined) return keyword(parser, start, absolute, special);
  const nameSpan = { start: token.start, end: token.end };
  advance(token);
  if (!at(parser, '(')) {
    const span = absolute ? spanFrom(parser, start) : nameSpan;
    return { kind: 'name', id: nextId(parser), span, name: word, absolute };
  }
  const args = callArguments(parser);
  if (word === 'has' && !absolute) return presence(parser, start, args);
  const id = nextIdAbove(parser, args);
  return {
    kind: 'call',
    id,
    span: spanFrom(parser, start),
    name: word,
    nameSpan,
    target: undefined,
    args,
    absolute,
  };
}

const LONGEST_PATH = 256;
/** `req.headers.x-forwarded-for`, at the end of a text. */
const DASHED_PATH = /(?<![\w.])(\w+(?:\.\w+)*)\.(\w+(?:-\w+)+)$/;

/** A constant, or an error. */
function keyword(parser: Parser, start: number, absolute: boolean, special: Special): Node {
  const token = parser.at;
  if (special === 'reserved') {
    const from = Math.max(0, token.end - LONGEST_PATH);
    const dashed = DASHED_PATH.exec(token.text.slice(from, token.end));
    if (dashed !== null)
      throw new SyntaxProblem(DASH_MESSAGE, from + dashed.index, token.end, `${dashed[1]}['${dashed[2]}']`);
    throw new SyntaxProblem(`\`${token.word}\` is reserved and cannot be a name`, token.start, token.end);
  }
  if (absolute || special === 'operator') throw unexpected(parser, 'a value');
  advance(token);
  return { kind: 'literal', id: nextId(parser), span: spanFrom(parser, start), value: special.value };
}

function presence(parser: Parser, start: number, args: readonly Node[]): Node {
  const [select] = args;
  if (args.length !== 1 || select?.kind !== 'select' || select.optional) {
    const needs = 'has() needs one field selection, such as has(a.b)';
    const test = args.length === 1 ? membership(parser, select!) : undefined;
    if (test !== undefined) {
      const whole = spanFrom(parser, start);
      throw new SyntaxProblem(needs, whole.start, whole.end, test);
    }
    const span = select?.span ?? spanFrom(parser, start);
    throw new SyntaxProblem(needs, span.start, span.end);
  }
  return { kind: 'has', id: nextId(parser, select), span: spanFrom(parser, start), select };
}

/** Rewrites `map['key']` as `'key' in map`, also where the key has dashes and no brackets. */
function membership({ at: { text } }: Parser, node: Node): string | undefined {
  const textOf = ({ span }: Node): string => text.slice(span.start, span.end);
  if (node.kind === 'index' && !node.optional) return `${textOf(node.index)} in ${textOf(node.operand)}`;
  const dashed = node.kind === 'binary' ? dashedField(node) : undefined;
  return dashed && dashed.span.end === node.span.end
    ? `'${dashed.name}' in ${textOf(dashed.select.operand)}`
    : undefined;
}

function callArguments(parser: Parser): Node[] {
  expect(parser, '(');
  const args: Node[] = [];
  if (take(parser, ')')) return args;
  do args.push(parser.parse(parser));
  while (take(parser, ','));
  expect(parser, ')');
  return args;
}

/** Parses everything that can follow a value: `.field`, `.?field`, `.method(…)`, `[index]`, `[?index]`, `{…}`. */
export function postfix(parser: Parser, first: Node, start: number): Node {
  let node = first;
  for (;;) {
    if (at(parser, '.')) node = member(parser, node, start);
    else if (take(parser, '[')) {
      const optional = take(parser, '?');
      const index = parser.parse(parser);
      expect(parser, ']');
      const id = nextId(parser, node, index);
      node = { kind: 'index', id, span: spanFrom(parser, start), operand: node, index, optional };
    } else if (at(parser, '{') && dottedPath(node) !== undefined) node = message(parser, node, start);
    else return node;
  }
}

function member(parser: Parser, operand: Node, start: number): Node {
  expect(parser, '.');
  const optional = take(parser, '?');
  const token = parser.at;
  const quoted = token.kind === 'quoted';
  const special = token.kind === 'identifier' ? WORDS.get(token.word) : undefined;
  const isKeyword = special !== undefined && special !== 'reserved';
  if ((!quoted && token.kind !== 'identifier') || isKeyword) throw unexpected(parser, 'a field name');
  const { word } = token;
  const nameSpan = { start: token.start, end: token.end };
  advance(token);
  if (!quoted && !optional && at(parser, '(')) {
    return methodCall(parser, operand, start, word, nameSpan);
  }
  const id = nextId(parser, operand);
  return {
    kind: 'select',
    id,
    span: spanFrom(parser, start),
    operand,
    field: word,
    fieldSpan: nameSpan,
    optional,
  };
}

function methodCall(parser: Parser, target: Node, start: number, word: string, nameSpan: Node['span']): Node {
  const args = callArguments(parser);
  const span = spanFrom(parser, start);
  if (word === 'bind' && args.length === 3 && target.kind === 'name' && target.name === 'cel') {
    const [variable, value, body] = args as [Node, Node, Node];
    return {
      kind: 'bind',
      id: nextId(parser, value, body),
      span,
      variable: loopVariable(variable, word),
      value,
      body,
    };
  }
  const macro = parser.macros.get(`${word}/${args.length}`);
  if (macro !== undefined) return macroCall(parser, macro, target, args, span, nameSpan);
  const id = nextIdAbove(parser, args, target);
  return { kind: 'call', id, span, name: word, nameSpan, target, args, absolute: false };
}

function macroCall(
  parser: Parser,
  macro: MacroRow,
  target: Node,
  args: readonly Node[],
  span: Node['span'],
  nameSpan: Node['span'],
): Node {
  const variables = args.slice(0, macro.variables).map((argument) => loopVariable(argument, macro.name));
  const bodies = args.slice(macro.variables);
  const [one, two] = variables;
  if (one !== undefined && two !== undefined && one.name === two.name) {
    throw new SyntaxProblem(`${macro.name}() needs two different variables`, two.span.start, two.span.end);
  }
  const id = nextIdAbove(parser, bodies, target);
  return { kind: 'macro', id, span, macro, nameSpan, target, variables, bodies };
}

function loopVariable(argument: Node, macro: string): LoopVariable {
  if (argument.kind === 'name' && !argument.absolute) return { name: argument.name, span: argument.span };
  const { start, end } = argument.span;
  throw new SyntaxProblem(`${macro}() needs a plain variable name here, such as \`x\``, start, end);
}

function list(parser: Parser, start: number): Node {
  const elements: Element[] = [];
  while (!at(parser, ']')) {
    const optional = take(parser, '?');
    elements.push({ node: parser.parse(parser), optional });
    if (!take(parser, ',')) break;
  }
  expect(parser, ']');
  const nodes = elements.map((element) => element.node);
  const id = nextIdAbove(parser, nodes);
  return { kind: 'list', id, span: spanFrom(parser, start), elements };
}

function mapLiteral(parser: Parser, start: number): Node {
  const entries: Entry[] = [];
  while (!at(parser, '}')) {
    const optional = take(parser, '?');
    const key = parser.parse(parser);
    expect(parser, ':');
    entries.push({ key, value: parser.parse(parser), optional });
    if (!take(parser, ',')) break;
  }
  expect(parser, '}');
  const id = nextIdAbove(
    parser,
    entries.flatMap((entry) => [entry.key, entry.value]),
  );
  return { kind: 'map', id, span: spanFrom(parser, start), entries };
}

function message(parser: Parser, path: Node, start: number): Node {
  expect(parser, '{');
  const fields: MessageField[] = [];
  while (!at(parser, '}')) {
    const optional = take(parser, '?');
    const token = parser.at;
    if (token.kind !== 'identifier' && token.kind !== 'quoted') throw unexpected(parser, 'a field name');
    const field = token.word;
    advance(token);
    expect(parser, ':');
    fields.push({ name: field, value: parser.parse(parser), optional });
    if (!take(parser, ',')) break;
  }
  expect(parser, '}');
  const id = nextIdAbove(
    parser,
    fields.map((field) => field.value),
  );
  const names = (dottedPath(path) ?? []).join('.');
  return { kind: 'message', id, span: spanFrom(parser, start), name: names, fields };
}
