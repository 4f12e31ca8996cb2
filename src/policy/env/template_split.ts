import type { Span } from '../../diagnostics/diagnostic.ts';

/** A piece of a template: literal text, or the source of an expression between `${` and `}`. */
export type TemplatePiece =
  | { readonly kind: 'text'; readonly text: string }
  /** `span` covers only the expression, as offsets in the template. */
  | { readonly kind: 'expression'; readonly source: string; readonly span: Span };

export interface TemplateProblem {
  readonly message: string;
  readonly span: Span;
}

/** Maximum number of problems reported per template: each requires scanning the rest of the template. */
const PROBLEMS_LIMIT = 20;

/** A template in pieces, and all problems with its braces. */
export interface ScannedTemplate {
  readonly pieces: readonly TemplatePiece[];
  readonly problems: readonly TemplateProblem[];
}

/** The pieces of a template, or the first problem with its braces (see `scanTemplate`). */
export function splitTemplate(template: string): readonly TemplatePiece[] | TemplateProblem {
  const { pieces, problems } = scanTemplate(template);
  return problems[0] ?? pieces;
}

/**
 * Splits `a ${expression} b`. A closing brace inside quotes or inside braces of the expression does not end it.
 * `$${` stands for the two characters `${`. Scanning continues after a problem, up to a limit.
 */
export function scanTemplate(template: string): ScannedTemplate {
  const problems: TemplateProblem[] = [];
  const pieces: TemplatePiece[] = [];
  let text = '';
  let at = 0;
  const endText = (): void => {
    if (text !== '') pieces.push({ kind: 'text', text });
    text = '';
  };
  while (problems.length < PROBLEMS_LIMIT) {
    const dollar = template.indexOf('${', at);
    if (dollar < 0) break;
    if (dollar > at && template[dollar - 1] === '$') {
      text += `${template.slice(at, dollar - 1)}\${`;
      at = dollar + 2;
      continue;
    }
    text += template.slice(at, dollar);
    endText();
    const start = dollar + 2;
    const end = endOfExpression(template, start);
    if (end < 0) {
      problems.push({ message: '`${` has no closing `}`', span: { start: dollar, end: start } });
      at = start;
      continue;
    }
    const source = template.slice(start, end);
    if (source.trim() === '') {
      problems.push({
        message: 'there is no expression between `${` and `}`',
        span: { start: dollar, end: end + 1 },
      });
      at = end + 1;
      continue;
    }
    pieces.push({ kind: 'expression', source, span: { start, end } });
    at = end + 1;
  }
  text += template.slice(at);
  endText();
  return { pieces, problems };
}

/** Offset of the brace that closes an expression that starts at `from`, or -1. Linear. */
function endOfExpression(template: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < template.length) {
    const char = template[at]!;
    if (char === '}' && depth === 0) return at;
    if (char === '{') depth++;
    else if (char === '}') depth--;
    else if (char === '"' || char === "'") {
      at = endOfString(template, from, at);
      continue;
    } else if (char === '/' && template[at + 1] === '/') {
      // A comment extends to the end of its line; on the last line it hides the closing brace, as in CEL.
      const end = template.indexOf('\n', at);
      at = end < 0 ? template.length : end;
      continue;
    }
    at++;
  }
  return -1;
}

/**
 * The offset after a string literal that starts with the quote at `open`; the end of the text if it is not
 * closed.
 */
function endOfString(template: string, from: number, open: number): number {
  const quote = template[open]!;
  const triple = quote.repeat(3);
  const fence = template.startsWith(triple, open) ? triple : quote;
  const isRaw = isRawPrefix(template, from, open);
  let at = open + fence.length;
  while (at < template.length) {
    if (template[at] === '\\' && !isRaw) at += 2;
    else if (template.startsWith(fence, at)) return at + fence.length;
    else at++;
  }
  return template.length;
}

/** Whether the letters before a quote are `r`, `rb` or `br` in any case, and not the end of a longer name. */
function isRawPrefix(template: string, from: number, open: number): boolean {
  let start = open;
  while (start > from && open - start < 3 && /[A-Za-z0-9_]/.test(template[start - 1]!)) start--;
  return /^(?:r|rb|br)$/i.test(template.slice(start, open));
}
