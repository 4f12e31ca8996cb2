import type { Repair } from './findings.ts';
import { mapIn } from './policy_text.ts';
import type { PolicyText } from './policy_text.ts';
import { quotedScalar } from './text_map.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';

/** Repairs as changes of the policy's text. Each gives undefined where the text has no place for it. */

/** Writes another key; quotes stay. */
export function renameKey(
  policy: PolicyText,
  pointer: string,
  key: string,
  safe: boolean,
): Repair | undefined {
  const span = policy.keySpanOf(pointer);
  if (span === undefined) return undefined;
  return { says: `rename to ${key}`, safe, edit: { span, text: inQuotesOf(policy.text, span, key) } };
}

/** Writes another short word as the value; quotes stay. */
export function rewordValue(
  policy: PolicyText,
  pointer: string,
  word: string,
  safe: boolean,
): Repair | undefined {
  const span = policy.spanOf(pointer);
  if (span === undefined || /^[|>]/.test(policy.text.slice(span.start, span.end))) return undefined;
  return { says: `write ${word}`, safe, edit: { span, text: inQuotesOf(policy.text, span, word) } };
}

/** Replaces the value as it stands by raw YAML. */
export function replaceValue(
  policy: PolicyText,
  pointer: string,
  says: string,
  yaml: string,
  safe: boolean,
): Repair | undefined {
  const span = policy.spanOf(pointer);
  if (span === undefined || span.start === span.end) return undefined;
  if (/^[|>]/.test(policy.text.slice(span.start, span.end))) return undefined;
  return { says, safe, edit: { span, text: yaml } };
}

/** Replaces a stretch of the text that is the value at the pointer. */
export function replaceWithin(
  policy: PolicyText,
  pointer: string,
  decoded: string,
  span: Span,
  change: { readonly says: string; readonly text: string; readonly safe: boolean },
): Repair | undefined {
  const edit = mapIn(policy, pointer, decoded)?.edit(span, change.text);
  return edit ? { says: change.says, safe: change.safe, edit } : undefined;
}

/** Puts what stands as the value into quotes, letter by letter as it was written. */
export function quoteAsWritten(policy: PolicyText, pointer: string, safe: boolean): Repair | undefined {
  const span = policy.spanOf(pointer);
  if (span === undefined || span.start === span.end) return undefined;
  const written = policy.text.slice(span.start, span.end).trimEnd();
  if (written.includes('\n')) return undefined;
  const edit = { span: { start: span.start, end: span.start + written.length }, text: quotedScalar(written) };
  return { says: 'put it in quotes', safe, edit };
}

function inQuotesOf(text: string, span: Span, word: string): string {
  const quote = text[span.start];
  if (quote === '"') return JSON.stringify(word);
  return quote === "'" ? `'${word.replaceAll("'", "''")}'` : word;
}

/** Takes a key and its value out of a block map, when they stand alone on their lines and are not all there is. */
export function removeLine(policy: PolicyText, pointer: string, says: string): Repair | undefined {
  const key = policy.keySpanOf(pointer);
  const value = policy.spanOf(pointer);
  if (key === undefined || value === undefined) return undefined;
  const start = policy.text.lastIndexOf('\n', key.start - 1) + 1;
  const newline = policy.text.indexOf('\n', value.end);
  const end = newline === -1 ? policy.text.length : newline + 1;
  const before = policy.text.slice(start, key.start);
  const after = policy.text.slice(value.end, end);
  if (before.trim() !== '' || !/^\s*(?:#.*)?\s*$/.test(after)) return undefined;
  return { says, safe: true, edit: { span: { start, end }, text: '' } };
}
