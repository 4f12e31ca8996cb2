import type { Span } from '../diagnostics/diagnostic.ts';
import type { Node } from './ast.ts';
import { SyntaxProblem } from './escapes.ts';
import type { MacroRow } from './function_table.ts';
import { type Lexer, advance } from './lexer.ts';
import { MAX_DEPTH, MAX_NODES } from './limits.ts';

export type Macros = ReadonlyMap<string, MacroRow>;

/** The parser's state: its position in the source, and counters for the limits. */
export interface Parser {
  readonly at: Lexer;
  readonly macros: Macros;
  count: number;
  depth: number;
  /** Height of the tree below each node, by id. */
  readonly heights: number[];
  readonly parse: (parser: Parser) => Node;
}

export function unexpected(parser: Parser, wanted: string): SyntaxProblem {
  const token = parser.at;
  const found =
    token.kind === 'end' ? 'the expression ends' : `\`${token.text.slice(token.start, token.end)}\` stands`;
  const instead = token.kind === 'identifier' ? WORD_OPERATORS.get(token.word) : undefined;
  const path = wanted === 'a value' ? /^\/[\w./-]*/.exec(token.text.slice(token.start)) : null;
  if (path !== null)
    return new SyntaxProblem(
      `${found} where ${wanted} is expected`,
      token.start,
      token.start + path[0].length,
      `'${path[0]}'`,
    );
  const not = /\bnot\s+$/i.exec(token.text.slice(0, token.start));
  if (not !== null) return new SyntaxProblem('unexpected `not`', not.index, token.start, '!');
  const method = METHODS.has(token.word) ? `; it is a method: value.${token.word}(…)` : '';
  return new SyntaxProblem(`${found} where ${wanted} is expected${method}`, token.start, token.end, instead);
}

/** Methods that other languages have as operators. */
const METHODS: ReadonlySet<string> = new Set(['contains', 'endsWith', 'exists', 'matches', 'startsWith']);

// A map, because a word may be `toString`.
const WORD_OPERATORS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    and: '&&',
    or: '||',
    AND: '&&',
    OR: '||',
    is: '==',
    eq: '==',
  }),
);

export function at(parser: Parser, symbol: string): boolean {
  return parser.at.kind === 'symbol' && parser.at.word === symbol;
}

export function take(parser: Parser, symbol: string): boolean {
  if (!at(parser, symbol)) return false;
  advance(parser.at);
  return true;
}

export function expect(parser: Parser, symbol: string): void {
  if (!take(parser, symbol)) throw unexpected(parser, `\`${symbol}\``);
}

export function spanFrom(parser: Parser, start: number): Span {
  return { start, end: parser.at.lastEnd };
}

/** Takes the next id for a node above up to three others, within the limits of size and depth. */
export function nextId(parser: Parser, first?: Node, second?: Node, third?: Node): number {
  let height = first === undefined ? 0 : heightOf(parser, first);
  if (second !== undefined) height = Math.max(height, heightOf(parser, second));
  if (third !== undefined) height = Math.max(height, heightOf(parser, third));
  return idAbove(parser, height);
}

/** The same for a node above any number of others. */
export function nextIdAbove(parser: Parser, children: readonly Node[], target?: Node): number {
  let height = target === undefined ? 0 : heightOf(parser, target);
  for (const child of children) height = Math.max(height, heightOf(parser, child));
  return idAbove(parser, height);
}

function heightOf({ heights }: Parser, { id }: Node): number {
  return heights[id] ?? 0;
}

function idAbove(parser: Parser, height: number): number {
  if (height >= MAX_DEPTH) throw tooDeep(parser);
  const id = parser.count;
  if (id >= MAX_NODES) {
    throw new SyntaxProblem(`the expression has more than ${MAX_NODES} nodes`, 0, parser.at.end);
  }
  parser.count += 1;
  parser.heights.push(height + 1);
  return id;
}

export function tooDeep(parser: Parser): SyntaxProblem {
  return new SyntaxProblem(
    `the expression is nested deeper than ${MAX_DEPTH} levels`,
    parser.at.start,
    parser.at.end,
  );
}
