import { SyntaxProblem } from '../cel/escapes.ts';
import { type Lexer, advance, lexer } from '../cel/lexer.ts';
import type { Span } from '../diagnostics/diagnostic.ts';

export const TOKEN_KINDS = [
  'variable',
  'property',
  'function',
  'string',
  'number',
  'keyword',
  'operator',
] as const;

/** A word or a symbol of an expression. */
export interface ExpressionToken extends Span {
  readonly kind: (typeof TOKEN_KINDS)[number];
}

const KEYWORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

/** The tokens of an expression, up to what cannot be read; without brackets, commas and dots. */
export function tokensOf(source: string): readonly ExpressionToken[] {
  const found: ExpressionToken[] = [];
  try {
    const at = lexer(source);
    let last = '';
    while (at.kind !== 'end') {
      const kind = kindOf(at, last);
      if (kind !== null) found.push({ kind, start: at.start, end: at.end });
      last = at.kind === 'symbol' ? at.word : '';
      advance(at);
    }
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
  }
  return found;
}

function kindOf({ kind, word, text, start, end }: Lexer, last: string): ExpressionToken['kind'] | null {
  switch (kind) {
    case 'symbol':
      if (KEYWORDS.has(word)) return 'keyword';
      return /^[()[\]{},.:]$/.test(word) ? null : 'operator';
    case 'literal':
      return /\d/.test(text[start]!) ? 'number' : 'string';
    case 'identifier':
    case 'quoted':
      if (KEYWORDS.has(word)) return 'keyword';
      if (/^\s*\(/.test(text.slice(end, end + 20))) return 'function';
      return last === '.' ? 'property' : 'variable';
    case 'int':
    case 'double':
      return 'number';
    case 'end':
      return null;
  }
}
