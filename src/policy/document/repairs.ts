import { without } from '../../config_file/edits.ts';
import type { WantedFix } from '../../diagnostics/report.ts';
import type { More, Repair } from './findings.ts';
import { type PolicyText, mapIn } from './policy_text.ts';
import { quotedScalar } from '../../config_file/quoted_scalar.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';

/** Fixes as changes of the policy's text. Each returns undefined if the text does not allow it. */

/** Renames a key; quotes are kept. */
export function renameKey(
  policy: PolicyText,
  pointer: string,
  key: string,
  safe: boolean,
): Repair | undefined {
  const span = policy.keySpanOf(pointer);
  if (span === undefined) return undefined;
  return { message: `rename to ${key}`, safe, edit: { span, text: inQuotesOf(policy.text, span, key) } };
}

/** Replaces a one-word value; quotes are kept. */
export function rewordValue(
  policy: PolicyText,
  pointer: string,
  word: string,
  safe: boolean,
): Repair | undefined {
  const span = policy.spanOf(pointer);
  if (span === undefined || /^[|>]/.test(policy.text.slice(span.start, span.end))) return undefined;
  return { message: `write ${word}`, safe, edit: { span, text: inQuotesOf(policy.text, span, word) } };
}

/** Replaces the whole value with raw YAML. */
export function replaceValue(
  policy: PolicyText,
  pointer: string,
  message: string,
  yaml: string,
  safe: boolean,
): Repair | undefined {
  const span = policy.spanOf(pointer);
  if (span === undefined || span.start === span.end) return undefined;
  if (/^[|>]/.test(policy.text.slice(span.start, span.end))) return undefined;
  return { message, safe, edit: { span, text: yaml } };
}

/** Replaces a span of the string at the pointer. */
export function replaceWithin(
  policy: PolicyText,
  pointer: string,
  decoded: string,
  span: Span,
  change: { readonly message: string; readonly text: string; readonly safe: boolean },
): Repair | undefined {
  const edit = mapIn(policy, pointer, decoded)?.edit(span, change.text);
  return edit ? { message: change.message, safe: change.safe, edit } : undefined;
}

/** Puts the value into quotes exactly as it was written. */
export function quoteAsWritten(policy: PolicyText, pointer: string, safe: boolean): Repair | undefined {
  const span = policy.spanOf(pointer);
  if (span === undefined || span.start === span.end) return undefined;
  const written = policy.text.slice(span.start, span.end).trimEnd();
  if (written.includes('\n')) return undefined;
  const edit = { span: { start: span.start, end: span.start + written.length }, text: quotedScalar(written) };
  return { message: 'put it in quotes', safe, edit };
}

function inQuotesOf(text: string, span: Span, word: string): string {
  const quote = text[span.start];
  if (quote === '"') return JSON.stringify(word);
  return quote === "'" ? `'${word.replaceAll("'", "''")}'` : word;
}

/** Removes a key and its value from a block map, if they are alone on their lines and not the only entry. */
export function removeLine(policy: PolicyText, pointer: string, message: string): Repair | undefined {
  const key = policy.keySpanOf(pointer);
  const value = policy.spanOf(pointer);
  if (key === undefined || value === undefined) return undefined;
  const start = policy.text.lastIndexOf('\n', key.start - 1) + 1;
  const newline = policy.text.indexOf('\n', value.end);
  const end = newline === -1 ? policy.text.length : newline + 1;
  const before = policy.text.slice(start, key.start);
  const after = policy.text.slice(value.end, end);
  if (before.trim() !== '' || !/^\s*(?:#.*)?\s*$/.test(after)) return undefined;
  return { message, safe: true, edit: { span: { start, end }, text: '' } };
}

/** A fix that a check of a filter wants, for the part of the policy at a pointer. */
export function asWanted(
  policy: PolicyText,
  pointer: string,
  fix: WantedFix,
  { at = 'value', within }: Pick<More, 'at' | 'within'>,
): Repair | undefined {
  const { message, safe } = fix;
  if ('text' in fix) return within && replaceWithin(policy, pointer, within.decoded, within.span, fix);
  const span = at === 'key' ? policy.keySpanOf(pointer) : policy.spanOf(pointer);
  const edit = span && ('edit' in fix ? fix.edit : without(at))(policy.text, span);
  return edit ? { message, safe, edit } : undefined;
}

/** Moves a field that is beside the type of an action below `config`, where there is none yet. */
export function underConfig(policy: PolicyText, pointer: string): Repair | undefined {
  const key = policy.keySpanOf(pointer);
  const value = policy.spanOf(pointer);
  if (key === undefined || value === undefined) return undefined;
  if (policy.keySpanOf(pointer.replace(/[^/]*$/, 'config')) !== undefined) return undefined;
  const span = { start: key.start, end: value.end };
  const written = policy.text.slice(span.start, span.end);
  if (
    written.includes('\n') ||
    /[[{]/.test(policy.text.slice(policy.text.lastIndexOf('\n', span.start) + 1, span.start))
  )
    return undefined;
  return { message: 'put it under config', safe: false, edit: { span, text: `config: { ${written} }` } };
}

/** Makes a block map the only item of a list. */
export function asItem(policy: PolicyText, pointer: string): Repair | undefined {
  const span = policy.spanOf(pointer);
  const start = span && policy.text.lastIndexOf('\n', span.start - 1) + 1;
  if (span === undefined || start === undefined || !/^ +$/.test(policy.text.slice(start, span.start)))
    return undefined;
  const lines = policy.text.slice(span.start, span.end).replaceAll(/\n(?=[^\n])/g, '\n  ');
  return { message: 'put a dash before it', safe: false, edit: { span, text: `- ${lines.trimEnd()}` } };
}
