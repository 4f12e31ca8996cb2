import { readdirSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import type { Diagnostic, Span } from '../diagnostics/diagnostic.ts';
import { suggest } from '../diagnostics/suggest.ts';
import { didYouMean } from '../diagnostics/message_text.ts';
import type { CheckedScenario } from '../simulator/document/check.ts';

/** The text from which an edge or a policy was read that is checked as data. */
export interface WrittenAt {
  readonly name: string;
  /** Null if a program produced it. */
  readonly text: string | null;
  readonly spanOf: (pointer: string) => Span | undefined;
  readonly keySpanOf: (pointer: string) => Span | undefined;
  /** Pointer to the edge or the policy in that text. */
  readonly at: string;
}

/** Codes of findings about a key, not about its value. */
const UNKNOWN_KEY = /unknown_key|_2236$/;
const INSIDE_POLICY = /^\/edges\/https\/policy\/routes\/0\/traffic_policy\/value/;

/** Moves findings about an edge that was generated for a scenario to their places in the user's file. */
export function relocated(
  findings: readonly Diagnostic[],
  { name, text, spanOf, keySpanOf, at }: WrittenAt,
): readonly Diagnostic[] {
  return findings.map(({ source: _made, span: _there, fix: _none, ...finding }) => {
    const pointer = at + finding.pointer.replace(INSIDE_POLICY, '');
    const key = UNKNOWN_KEY.test(finding.code) ? keySpanOf(pointer) : undefined;
    const span = text === null ? undefined : (key ?? spanNear(pointer, spanOf));
    return { ...finding, pointer, source: { name, text: text ?? '' }, ...(span && { span }) };
  });
}

/** When a key is missing, its parent is used as the place. */
function spanNear(pointer: string, spanOf: WrittenAt['spanOf']): Span | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const span = spanOf(at);
    if (span !== undefined || at === '') return span;
  }
}

/** Reports an edge or policy file that cannot be read, at the place that names it. */
export function unreadable(
  checked: CheckedScenario,
  key: 'edge' | 'policy',
  path: string,
  message: string,
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const near = suggest(basename(path), namesBeside(path));
  checked.report(found)('scenario.unreadable', `/${key}`, message, { hint: didYouMean(near) });
  return found;
}

function namesBeside(path: string): readonly string[] {
  try {
    return readdirSync(dirname(path)).filter((name) => extname(name) !== '');
  } catch {
    return [];
  }
}
