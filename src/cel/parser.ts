import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Ast, BinaryOperator, Node } from './ast.ts';
import { SyntaxProblem } from './escapes.ts';
import { advance, lexer } from './lexer.ts';
import { MAX_DEPTH, MAX_SOURCE_LENGTH } from './limits.ts';
import { numberLiteral, postfix, primary } from './primary.ts';
import { at, expect, nextId, nextIdAbove, spanFrom, take, tooDeep, unexpected } from './reader.ts';
import type { Macros, Parser } from './reader.ts';

export type Parsed = { readonly ast: Ast } | { readonly diagnostic: Diagnostic };

/**
 * Parses one expression. Returns its tree, or the first syntax error with its span; never throws. `macros` are
 * those of the function table, by `name/arguments`.
 */
export function parseExpression(source: string, macros: Macros): Parsed {
  if (source.length > MAX_SOURCE_LENGTH) {
    const message = `the expression is ${source.length} characters long; the limit is ${MAX_SOURCE_LENGTH}`;
    return { diagnostic: syntaxDiagnostic(new SyntaxProblem(message, 0, source.length), 'expr.too_long') };
  }
  try {
    const parser: Parser = { at: lexer(source), macros, count: 0, depth: 0, heights: [], parse: expression };
    const root = expression(parser);
    if (parser.at.kind !== 'end') throw unexpected(parser, 'an operator or the end');
    return { ast: { source, root, nodeCount: parser.count } };
  } catch (problem) {
    if (problem instanceof SyntaxProblem) return { diagnostic: syntaxDiagnostic(problem, 'expr.syntax') };
    throw problem;
  }
}

function syntaxDiagnostic(problem: SyntaxProblem, code: string): Diagnostic {
  const span = { start: problem.start, end: problem.end };
  const base = { code, severity: 'error', message: problem.message, pointer: '', span } as const;
  if (problem.instead === undefined) return base;
  const fix = { message: `write \`${problem.instead}\``, span, text: problem.instead, safe: false };
  return { ...base, hint: `did you mean \`${problem.instead}\`?`, fix };
}

function expression(parser: Parser): Node {
  if (parser.depth >= MAX_DEPTH) throw tooDeep(parser);
  parser.depth += 1;
  const { start } = parser.at;
  let node = logic(parser, '||');
  if (take(parser, '?')) {
    const yes = logic(parser, '||');
    expect(parser, ':');
    const no = expression(parser);
    const id = nextId(parser, node, yes, no);
    node = { kind: 'conditional', id, span: spanFrom(parser, start), condition: node, yes, no };
  }
  parser.depth -= 1;
  return node;
}

function logic(parser: Parser, operator: '&&' | '||'): Node {
  const { start } = parser.at;
  const first = term(parser, operator);
  if (!at(parser, operator)) return first;
  const terms = [first];
  while (take(parser, operator)) terms.push(term(parser, operator));
  return { kind: 'logic', id: nextIdAbove(parser, terms), span: spanFrom(parser, start), operator, terms };
}

function term(parser: Parser, operator: '&&' | '||'): Node {
  return operator === '||' ? logic(parser, '&&') : binary(parser, 0);
}

/** Operators of two operands; a higher level binds more tightly. */
const LEVELS: ReadonlyMap<string, number> = new Map(
  [
    ['==', '!=', '<', '<=', '>', '>=', 'in'],
    ['+', '-'],
    ['*', '/', '%'],
  ].flatMap((operators, level) => operators.map((operator) => [operator, level] as const)),
);

/** Operators of at least this level, by precedence climbing; all are left-associative. */
function binary(parser: Parser, least: number): Node {
  const { start } = parser.at;
  let left = unary(parser);
  for (;;) {
    const token = parser.at;
    if (token.kind !== 'symbol' && token.kind !== 'identifier') return left;
    const level = LEVELS.get(token.word);
    if (level === undefined || level < least) return left;
    const operator = token.word as BinaryOperator;
    const operatorSpan = { start: token.start, end: token.end };
    advance(token);
    const right = binary(parser, level + 1);
    const id = nextId(parser, left, right);
    left = { kind: 'binary', id, span: spanFrom(parser, start), operator, operatorSpan, left, right };
  }
}

/** `!!a` is `a` and `--a` is `a`; one minus before a number belongs to the number (language definition, Syntax). */
function unary(parser: Parser): Node {
  const { start } = parser.at;
  const operator = at(parser, '!') ? '!' : '-';
  let count = 0;
  while (take(parser, operator)) count += 1;
  if (count === 1 && operator === '-' && (parser.at.kind === 'int' || parser.at.kind === 'double')) {
    return postfix(parser, numberLiteral(parser, start, true), start);
  }
  const operandStart = parser.at.start;
  const operand = postfix(parser, primary(parser), operandStart);
  if (count % 2 === 0) return operand;
  return { kind: 'unary', id: nextId(parser, operand), span: spanFrom(parser, start), operator, operand };
}
