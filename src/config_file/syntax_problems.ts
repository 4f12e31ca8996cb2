import type { YAMLError } from 'yaml';
import type { Fix, Span } from '../diagnostics/diagnostic.ts';
import type { ReadingCode } from './codes.ts';
import { indentationProblem } from './indentation.ts';
import * as fixes from './syntax_fixes.ts';

/** Why a text cannot be read, in words for people who edit files. */
export interface SyntaxProblem {
  readonly code: ReadingCode;
  readonly message: string;
  readonly span: Span;
  readonly hint?: string | undefined;
  readonly fix?: Fix | null;
  /** Whether it explains all problems after it. */
  readonly isWhole?: boolean;
}

/** The problems of the parser; `called` names the kind of file, with its article. */
export function syntaxProblems(
  text: string,
  problems: readonly YAMLError[],
  called: string,
): readonly SyntaxProblem[] {
  const first = problems[0];
  const misplaced = first === undefined ? null : indentationAt(text, first);
  if (misplaced !== null) return [misplaced];
  const comment = first === undefined ? null : foreignComment(text);
  if (comment !== null) return [comment];
  const all = problems.map((problem) => syntaxProblem(text, problem, called));
  const whole = all.findIndex(({ isWhole }) => isWhole === true);
  return whole < 0 ? all : all.slice(0, whole + 1);
}

const STRING_OR_COMMENT = /"(?:[^"\\]|\\[^])*"|(?<=^|\s)#.*|(?<=^|[\s,[\]{}])\/(?:\/.*|\*)/g;

/** A comment as in JavaScript, at the start of a text or in one that is JSON. */
function foreignComment(text: string): SyntaxProblem | null {
  if (!/^[\s\uFEFF]*(?:\{|\/[/*])/.test(text)) return null;
  const found = Array.from(text.matchAll(STRING_OR_COMMENT)).find(([token]) => token.startsWith('/'));
  if (found === undefined) return null;
  const span = { start: found.index, end: found.index + found[0].trimEnd().length };
  return { code: 'syntax', message: 'this is not a comment', span, hint: 'a comment begins with #' };
}

/** The errors of the parser that a wrong indentation can cause. */
const BY_INDENTATION: ReadonlySet<YAMLError['code']> = new Set([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'MULTILINE_IMPLICIT_KEY',
  'MISSING_CHAR',
  'UNEXPECTED_TOKEN',
]);

/** The line with the wrong indentation behind an error; null when the error has another cause. */
function indentationAt(text: string, { code, pos }: YAMLError): SyntaxProblem | null {
  if (!BY_INDENTATION.has(code)) return null;
  const found = indentationProblem(text);
  if (found === null) return null;
  const line = text.slice(0, pos[0]).split('\n').length - 1;
  // The parser notices a line that does not fit on it, or at the end of the line above.
  if (Math.abs(line - found.line) > 1) return null;
  const { message, hint, span, fix } = found;
  return { code: 'syntax', message, span: clamped(span, text.length), hint, fix };
}

function syntaxProblem(text: string, { code, message, pos }: YAMLError, called: string): SyntaxProblem {
  const span = clamped({ start: pos[0], end: pos[1] }, text.length);
  const special = SPECIAL[code]?.(text, span, message, called);
  const fix = FIXES[code]?.(text, span) ?? null;
  return special ?? { code: 'syntax', message: SYNTAX[code] ?? lowerFirst(message), span, fix };
}

type Explain = (text: string, span: Span, message: string, called: string) => SyntaxProblem | undefined;

/** Mistakes whose place or cure depends on the text around them. */
const SPECIAL: Readonly<Partial<Record<YAMLError['code'], Explain>>> = {
  TAB_AS_INDENT: (text, span) => ({
    code: 'tab_indent',
    message: 'a tab is used for indentation; YAML takes spaces only',
    span,
    hint: 'indent with spaces',
    fix: fixes.spacesForTabs(text),
  }),
  MULTIPLE_DOCS: (text, { start }, _message, called) => ({
    code: 'several_documents',
    message: `a second document begins here; ${called} holds one`,
    span: clamped({ start, end: start + 3 }, text.length),
  }),
  TAG_RESOLVE_FAILED: (text, span) => ({
    code: 'unknown_tag',
    message: `'${text.slice(span.start, span.end)}' is parsed as a YAML tag, so the value after it is not what it seems`,
    span,
    hint: 'put the whole value in quotes',
    fix: fixes.quotedFrom(text, span.start, true),
  }),
  BAD_INDENT: (text, span, message) => (message.startsWith('Flow') ? openBracket(text, span) : undefined),
  MISSING_CHAR: (text, span, message) => missingCharacter(text, message, span),
  UNEXPECTED_TOKEN: (text, span) => missingSpace(text, span.start),
  MULTILINE_IMPLICIT_KEY: (text, span) => missingSpace(text, endOfLine(text, span.start)),
};

const SYNTAX: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_INDENT: 'the indentation of this line fits no line above',
  BLOCK_AS_IMPLICIT_KEY: 'a second `key:` is on the same line; a value with a colon and a space needs quotes',
  BLOCK_IN_FLOW: 'an indented list or map cannot be used between brackets',
  MULTILINE_IMPLICIT_KEY: 'a key has to be on one line; is a colon missing, or the indentation uneven?',
  BAD_SCALAR_START: 'an unquoted value cannot begin with this character; put the value in quotes',
};

/** Cures of the same. */
const FIXES: Readonly<Partial<Record<YAMLError['code'], (text: string, span: Span) => Fix | null>>> = {
  BLOCK_AS_IMPLICIT_KEY: (text, { start }) => fixes.quotedLine(text, start),
  BAD_SCALAR_START: (text, { start }) => fixes.quotedFrom(text, start, true),
};

/** A bracket that the text before the problem opens and does not close. */
function openBracket(text: string, span: Span): SyntaxProblem {
  const open: number[] = [];
  let quote = '';
  for (let at = 0; at < span.start; at++) {
    const character = text[at]!;
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '#') at = endOfLine(text, at);
    else if (isOpeningQuote(text, at)) quote = character;
    else if ('[{'.includes(character)) open.push(at);
    else if (']}'.includes(character)) open.pop();
  }
  const start = open.at(-1);
  if (start === undefined)
    return { code: 'syntax', message: 'the lines between brackets have to be indented', span };
  const [bracket, closing] = text[start] === '[' ? ['[', ']'] : ['{', '}'];
  return {
    code: 'syntax',
    message: `the bracket ${bracket} is never closed, or a line between the brackets is not indented`,
    span: { start, end: start + 1 },
    hint: `close it with ${closing}`,
    fix:
      open.length === 1 && text.slice(0, start).trim() === ''
        ? fixes.closedText(text, closing)
        : fixes.closedBracket(text, start, closing),
    isWhole: true,
  };
}

/** An apostrophe within a word is not a quote. */
function isOpeningQuote(text: string, at: number): boolean {
  return `'"`.includes(text[at]!) && /[\s[{,:]/.test(text[at - 1] ?? ' ');
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function missingCharacter(text: string, message: string, span: Span): SyntaxProblem {
  const quote = /closing (["'])/.exec(message)?.[1];
  if (quote !== undefined) {
    const start = text.lastIndexOf(quote, span.start - 1);
    const place = clamped({ start, end: endOfLine(text, Math.max(start, 0)) }, text.length);
    const unclosed = `the quote ${quote} is never closed`;
    return {
      code: 'syntax',
      message: unclosed,
      span: place,
      hint: `close it with ${quote}`,
      fix: start < 0 ? null : fixes.closedQuote(text, start),
      isWhole: true,
    };
  }
  // A map or a list in brackets that is the whole text.
  if (message.startsWith('Flow')) return openBracket(text, span);
  if (message.startsWith('Missing , ')) {
    const hint = 'write a comma after the value above';
    const missing = 'a comma is missing before this';
    return { code: 'syntax', message: missing, span, hint, fix: fixes.commaBefore(text, span.start) };
  }
  return { code: 'syntax', message: lowerFirst(message), span };
}

/** `key:{`, `key:[` or `key:"` in the line before an offset: without a space YAML reads the colon as part of the text. */
function missingSpace(text: string, start: number): SyntaxProblem | undefined {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const found = /^[\s-]*[\w-]+:(?=[[{"'])/.exec(text.slice(from, start));
  if (found === null) return undefined;
  const end = from + found[0].length;
  return {
    code: 'syntax',
    message: 'a space is missing after the colon',
    span: { start: end - 1, end },
    hint: `write '${found[0].trim()} '`,
    fix: fixes.spaceAfter(end),
    isWhole: true,
  };
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

/** A place within a text of this length. */
export function clamped(span: Span, end: number): Span {
  const start = Math.min(Math.max(span.start, 0), end);
  return { start, end: Math.min(Math.max(span.end, start), end) };
}
