import type * as z from 'zod';
import { withArticle } from '../../diagnostics/message_text.ts';

type Issue = z.core.$ZodIssue;

/**
 * The problem of a request value, as a sentence; `path` is the path in the client's request, `form` what texts have to be,
 * such as 'letters and digits'.
 */
export function issueMessage(
  issue: Issue,
  body: unknown,
  path: readonly PropertyKey[],
  form: string | undefined,
): string {
  const value = valueAt(body, issue.path);
  const name = `The field '${path.map(String).join('.')}'`;
  if (value === undefined) return `${name} is missing.`;
  // JSON has larger numbers than we can represent.
  if (value === Infinity || value === -Infinity) return `${name} is too large a number.`;
  if (issue.code === 'invalid_type')
    return `${name} has to be ${wordOf(issue.expected)}, not ${typeOf(value, issue.expected)}.`;
  if (issue.code === 'too_big')
    return `${name} has to be at most ${issue.maximum}${unitOf(issue.origin, issue.maximum)}.`;
  if (issue.code === 'too_small')
    return `${name} has to be at least ${issue.minimum}${unitOf(issue.origin, issue.minimum)}.`;
  if (issue.code === 'invalid_format' && form !== undefined) return `${name} has to be ${form}.`;
  if (issue.code === 'invalid_key') return `${name} cannot be set: ${issue.issues[0]!.message}.`;
  if (issue.code !== 'invalid_value') return `${name} is invalid: ${issue.message}.`;
  const values = issue.values.map(String);
  return `${name} has to be ${values.length === 1 ? '' : 'one of '}${values.join(', ')}.`;
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let at = body;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

const WORDS: Readonly<Record<string, string>> = { int: 'whole number', record: 'object', array: 'list' };

function wordOf(type: string): string {
  return withArticle(WORDS[type] ?? type);
}

function typeOf(value: unknown, expected: string): string {
  // A number of the wrong kind is shown as it is.
  if (expected === 'int' && typeof value === 'number') return String(value);
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : wordOf(typeof value);
}

function unitOf(origin: string, count: number | bigint): string {
  const plural = Number(count) === 1 ? '' : 's';
  if (origin === 'string') return ` character${plural} long`;
  return origin === 'array' ? ` item${plural} long` : '';
}
