import type { Explanation, Step } from '../cel/explain.ts';
import { valueText } from '../cel/value_text.ts';
import { EvalError, type Outcome } from '../cel/values.ts';
import type { Span } from '../diagnostics/diagnostic.ts';
import { printable } from '../diagnostics/display.ts';
import { ACTION_FACTS } from '../filters/table.ts';

/** The value of a part of an expression, as text. */
export interface ValueOfPart {
  /** The part on one line, cut. */
  readonly text: string;
  /** Offsets in the source, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Number of the parts that contain it. */
  readonly depth: number;
  /** `'text'` or `error: …`; empty if it was skipped. */
  readonly value: string;
  /** Why it was not evaluated; null if it was. */
  readonly skipped: string | null;
}

const SOURCE_COLUMNS = 60;
const VALUE_COLUMNS = 100;

/** The value of every part of an expression that is itself at a depth, outer before inner; constants are omitted. */
export function valuesOfParts(
  source: string,
  { steps }: Pick<Explanation, 'steps'>,
  depth = 0,
): ValueOfPart[] {
  return steps.map((step) => ({
    ...partOf(source, step.span, depth + depthOf(step, steps), outcomeOf(step, source)),
    skipped: step.skipped?.reason ?? null,
  }));
}

/** A part of a source with its value, as text. */
export function partOf(source: string, span: Span, depth: number, value: string): ValueOfPart {
  const { start, end } = span;
  return { text: cut(oneLine(source.slice(start, end))), start, end, depth, value, skipped: null };
}

/** The value of every part of an expression, one a line, indented by nesting. */
export function expressionText(source: string, explanation: Pick<Explanation, 'steps'>): string {
  return partsText(valuesOfParts(source, explanation));
}

/** The same of values that were made before. */
export function partsText(parts: readonly ValueOfPart[]): string {
  const lines = parts.map(({ text, depth, value, skipped }) => ({
    text: '  '.repeat(depth) + text,
    value: skipped === null ? value : `skipped: ${skipped}`,
  }));
  const width = Math.min(SOURCE_COLUMNS, Math.max(0, ...lines.map((line) => line.text.length)));
  return lines.map(({ text, value }) => `${text.padEnd(width)}  ${value}`).join('\n');
}

/** Nesting depth of a step: the number of steps that contain it. */
function depthOf(step: Step, steps: readonly Step[]): number {
  return steps.filter(
    (other) =>
      other.id !== step.id &&
      other.span.start <= step.span.start &&
      other.span.end >= step.span.end &&
      other.span.end - other.span.start > step.span.end - step.span.start,
  ).length;
}

function outcomeOf({ outcome, skipped, times, span }: Step, source: string): string {
  if (skipped !== undefined || outcome === undefined) return '';
  const often = times > 1 ? ` (the last of ${times} times)` : '';
  return `${outcomeText(outcome, source, span)}${often}`;
}

/** A value as an expression would write it, shortened; an error with its reason. */
export function outcomeText(outcome: Outcome, source: string, span: Span): string {
  if (!(outcome instanceof EvalError)) return printable(valueText(outcome, VALUE_COLUMNS));
  const { start, end } = outcome.span ?? span;
  const reason = outcome.code === 'expr.absent' ? reasonOfAbsence(source.slice(start, end)) : undefined;
  return printable(`error: ${outcome.message}${reason === undefined ? '' : `: ${reason}`}`);
}

/** A text of any length on one line. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' '));
}

function cut(text: string): string {
  return text.length > SOURCE_COLUMNS ? `${text.slice(0, SOURCE_COLUMNS - 1)}…` : text;
}

const FACT =
  /^conn\.(?:geo|k8s|server_region|(?:client_ip|server_ip)\.(?:geo|as|categories|is_on_blocklist|is_tor_node))(?:\.|$)/;

/** Why an optional variable or field is absent, for explanations; undefined if no reason is known. */
export function reasonOfAbsence(path: string): string | undefined {
  if (FACT.test(path)) return 'the address has no such fact; a table of facts can provide it';
  if (/^conn\.tls\.(?:client|server)\b/.test(path))
    return 'the certificate is absent, or not completely known';
  if (path === 'conn.tls.ja4_fingerprint')
    return 'no fingerprint was recorded; a table of facts can provide it';
  if (path.startsWith('conn.tls.')) return 'the connection has no TLS, or it was not recorded';
  if (path.startsWith('conn.bytes_') || path === 'conn.ts.end')
    return 'this is not known before the connection ends';
  const name = /^actions\.[^.]+\.([^.]+)$/.exec(path)?.[1];
  const action = [...ACTION_FACTS.values()].find(({ result }) => result !== null && result.name === name);
  return action === undefined ? undefined : `no \`${action.type}\` has run yet`;
}
