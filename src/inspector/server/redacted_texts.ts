import { fieldPairs } from '../../http/fields.ts';
import { formDecode } from '../../policy/env/percent.ts';
import type { OpenRecord } from './kept.ts';

/** Shorter texts would match everywhere. */
const MIN_UNITS = 4;

/** The texts that redaction has taken out of an exchange: field values, their parts, parameters and members. */
export function redactedTexts(raw: OpenRecord, redacted: OpenRecord): string[] {
  if (redacted.redactions.length === 0) return [];
  const found = new Set<string>();
  const add = (text: string): void => void (text.length >= MIN_UNITS && found.add(text));
  const fields = (before: readonly string[], after: readonly string[]): void => {
    const pairs = fieldPairs(after);
    for (const [index, [, value]] of fieldPairs(before).entries()) {
      if (value !== pairs[index]?.[1]) for (const part of partsOf(value)) add(part);
    }
  };
  fields(raw.request.headers, redacted.request.headers);
  fields(raw.response?.headers ?? [], redacted.response?.headers ?? []);
  for (const [index, { headers, response }] of raw.forwards.entries()) {
    fields(headers, redacted.forwards[index]!.headers);
    fields(response?.headers ?? [], redacted.forwards[index]!.response?.headers ?? []);
  }
  if (raw.request.target !== redacted.request.target) {
    for (const [name, value] of parametersOf(raw.request.target)) {
      if (redacted.request.target.includes(`${name}=${value}`)) continue;
      add(value);
      add(formDecode(value));
    }
  }
  const bodies = [[raw.request.body, redacted.request.body] as const];
  for (const [before, after] of bodies) {
    if (after.redacted !== true) continue;
    const kept = new Set(wordsOf(after.text ?? ''));
    for (const word of wordsOf(before.text ?? '')) if (!kept.has(word)) add(word);
  }
  return [...found].sort((one, other) => other.length - one.length);
}

/** A value, what follows its scheme, and the values of cookies. */
function partsOf(value: string): string[] {
  const space = value.indexOf(' ');
  const cookies = value.split(/[;,]\s*/).map((each) => each.slice(each.indexOf('=') + 1));
  return [value, ...(space < 0 ? [] : [value.slice(space + 1)]), ...cookies];
}

function parametersOf(target: string): [name: string, value: string][] {
  const query = target.slice(target.indexOf('?') + 1);
  return query.split(/[&;#]/).map((each) => {
    const at = each.indexOf('=');
    return at < 0 ? [each, ''] : [each.slice(0, at), each.slice(at + 1)];
  });
}

/** Strings of a JSON body, or values of a form. */
function wordsOf(text: string): string[] {
  return Array.from(
    text.matchAll(/"((?:[^"\\]|\\.)*)"|[^\s"&=,:{}[\]]+/g),
    ([whole, quoted]) => quoted ?? whole,
  );
}
