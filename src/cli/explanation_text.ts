import { printable } from '../diagnostics/display.ts';
import type { Explanation, Step } from '../cel/explain.ts';
import { EvalError } from '../cel/values.ts';
import { reasonOfAbsence } from './expression_error.ts';
import { valueText } from './value_text.ts';

const SOURCE_COLUMNS = 60;
const VALUE_COLUMNS = 100;

/** The value of every sub-expression, one a line, indented by nesting. */
export function explanationText(source: string, { steps }: Explanation): string {
  const lines = steps.map((step) => {
    const indent = '  '.repeat(depthOf(step, steps));
    return {
      text: indent + cut(oneLine(source.slice(step.span.start, step.span.end))),
      becomes: outcomeOf(step, source),
    };
  });
  const width = Math.min(SOURCE_COLUMNS, Math.max(0, ...lines.map((line) => line.text.length)));
  return lines.map(({ text, becomes }) => `${text.padEnd(width)}  ${becomes}`).join('\n');
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
  if (skipped !== undefined) return `skipped: ${skipped.because}`;
  if (outcome === undefined) return '';
  const often = times > 1 ? ` (the last of ${times} times)` : '';
  if (!(outcome instanceof EvalError)) return `${printable(valueText(outcome, VALUE_COLUMNS))}${often}`;
  const { start, end } = outcome.span ?? span;
  const reason = outcome.code === 'expr.absent' ? reasonOfAbsence(source.slice(start, end)) : undefined;
  return printable(`error: ${outcome.message}${reason === undefined ? '' : `: ${reason}`}${often}`);
}

function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' '));
}

function cut(text: string): string {
  return text.length > SOURCE_COLUMNS ? `${text.slice(0, SOURCE_COLUMNS - 1)}…` : text;
}
