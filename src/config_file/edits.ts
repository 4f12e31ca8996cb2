import type { Span } from '../diagnostics/diagnostic.ts';
import type { EditOf } from '../diagnostics/report.ts';
import { quotedScalar } from './quoted_scalar.ts';
import { removalOf, removalOfEntry } from './remove_element.ts';

/** Replaces the marked value by YAML as it is to be written. */
export function written(yaml: string): EditOf {
  return (text, span) => (isOneLine(text, span) ? { span, text: yaml } : null);
}

/** Puts the marked value in quotes, exactly as it was written. */
export const inQuotes: EditOf = (text, span) =>
  isOneLine(text, span) ? { span, text: quotedScalar(text.slice(span.start, span.end)) } : null;

/** Makes the marked value the only item of a list. */
export const inBrackets: EditOf = (text, span) => {
  const value = text.slice(span.start, span.end);
  return /^(?:'[^'\n]*'|"[^"\n]*"|[\w./:-]+)$/.test(value) ? { span, text: `[${value}]` } : null;
};

/** Writes `{}` after a key without a value. */
export const emptyMap: EditOf = (text, { end }) => {
  const after = /^\s*:(?=[^\S\n]*(?:\n|#|$))/.exec(text.slice(end, end + 100));
  if (after === null) return null;
  const at = end + after[0].length;
  return { span: { start: at, end: at }, text: ' {}' };
};

/** Removes the marked key with its value, or the marked item of a list. */
export function without(at: 'key' | 'value'): EditOf {
  const removes = at === 'key' ? removalOfEntry : removalOf;
  return (text, { start }) => (isJson(text) ? null : removes(text, start));
}

/** Removes the item of a block list that begins with the key of the marked value. */
export const withoutItemOf: EditOf = (text, { start }) => {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const key = /^( *- +)(?:\{ *)?\w+: *$/.exec(before);
  return key === null || isJson(text) ? null : removalOf(text, start - before.length + key[1]!.length);
};

function isJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

function isOneLine(text: string, { start, end }: Span): boolean {
  return start < end && !text.slice(start, end).includes('\n') && !/[|>]/.test(text[start]!);
}
