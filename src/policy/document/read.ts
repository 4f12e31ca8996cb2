import type { Diagnostic, Source, Span } from '../../diagnostics/diagnostic.ts';
import { type FileKind, readingOf } from '../../config_file/read.ts';
import { type Steps, atOnce } from '../../config_file/steps.ts';
import { type PolicyText, BANG } from './policy_text.ts';
import { type TextMap, identityMap } from './text_map.ts';

/** The result of reading: the value with places, and YAML errors. */
export interface Reading {
  readonly policy: PolicyText;
  /** Whether there is a value to check. */
  readonly isRead: boolean;
  /** Findings of the YAML reader; spans are in the policy's text. */
  readonly problems: readonly Diagnostic[];
}

/** The source of a policy's text: a file of its own, or a string at a pointer inside a file. */
export interface TextPlace {
  readonly file: Source;
  readonly toFile: TextMap;
  readonly at: string;
}

/** A file with only a policy. */
export function wholeFile(file: Source): TextPlace {
  return { file, toFile: identityMap(), at: '' };
}

/** How messages refer to policies in files of their own. */
export const POLICY_FILE: FileKind = {
  called: 'a policy',
  keys: '`on_http_request`',
  smallest: 'a minimal policy has a phase such as `on_http_request` with a list of rules',
  prefix: 'policy',
};

/** Rounds of tag removal; each round finds the tags that earlier ones hid. */
const TAG_ROUNDS = 5;

/**
 * Reads the text of a policy, in YAML 1.2 or JSON. YAML parses a plain value that begins with `!` as a tag and
 * drops its beginning: here it is read as intended, and its place is stored in `bangs`.
 */
export function readPolicyText(text: string, place: TextPlace): Reading {
  return atOnce(policyReading(text, place));
}

/** `readPolicyText` with pauses. */
export function* policyReading(text: string, place: TextPlace): Steps<Reading> {
  const bangs = new Set<number>();
  let patched = text;
  let reading = yield* readingOf({ name: place.file.name, text }, POLICY_FILE);
  for (let round = 0; round < TAG_ROUNDS; round++) {
    const tags = reading.diagnostics.filter(({ code, span }) => code === TAG && isBang(patched, span));
    if (tags.length === 0) break;
    for (const { span } of tags) {
      bangs.add(span!.start);
      patched = patched.slice(0, span!.start) + BANG + patched.slice(span!.start + 1);
    }
    reading = yield* readingOf({ name: place.file.name, text: patched }, POLICY_FILE);
  }
  const { document } = reading;
  return {
    policy: {
      text,
      value: document === null || bangs.size === 0 ? document?.value : unbanged(document.value),
      spanOf: document?.spanOf ?? nowhere,
      keySpanOf: document?.keySpanOf ?? nowhere,
      bangs,
      maps: new Map(),
      ...place,
    },
    isRead: document !== null,
    problems: reading.diagnostics,
  };
}

const TAG = 'policy.unknown_tag';

function isBang(text: string, span: Span | undefined): boolean {
  return span !== undefined && text[span.start] === '!';
}

function nowhere(): undefined {
  return undefined;
}

/** The value with each replaced `!` restored. */
function unbanged(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(BANG) ? `!${value.slice(1)}` : value;
  if (Array.isArray(value)) return value.map(unbanged);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unbanged(item)]));
}
