import { weakMemoize } from '../../caches/weak_memoize.ts';
import type { Connection } from '../../engine/contract.ts';
import { type Tracer, type Step, tracer } from '../../cel/explain.ts';
import { EvalError, type Outcome } from '../../cel/values.ts';
import type { Activation } from '../../policy/env/activation.ts';
import { textOf } from '../../policy/env/json.ts';
import type { EdgeFixture, EdgeObserver } from '../../coverage/edge_fixture.ts';

/** The values of the parts of one expression: plain data. */
export interface ExpressionValues {
  /** JSON pointer of the expression. */
  readonly pointer: string;
  readonly source: string;
  /** Outer parts before inner ones; constants are omitted. */
  readonly parts: readonly { readonly text: string; readonly value: string }[];
}

/** Records the evaluations of expressions for one connection. */
interface ValueWatch extends EdgeObserver {
  /** Clears the record; evaluations for any connection are recorded until one is followed. */
  readonly begin: () => void;
  /** From now on only evaluations for this connection are recorded. */
  readonly follow: (connection: Connection) => void;
  readonly values: () => readonly ExpressionValues[];
}

function valueWatch(): ValueWatch {
  const kept = new Map<string, ExpressionValues>();
  let followed: Connection | null = null;
  return {
    completed: () => {},
    begin: () => {
      kept.clear();
      followed = null;
    },
    follow: (connection) => {
      kept.clear();
      followed = connection;
    },
    watch: (program, pointer, start) => {
      const { source } = program;
      const followedBy = tracer(program);
      return (activation) => {
        const outcome = followedBy.evaluate(activation);
        if (followed === null || activation.connection === followed)
          kept.set(`${pointer} ${start}`, { pointer, source, parts: partsOf(followedBy, source) });
        return outcome;
      };
    },
    values: () => [...kept.values()],
  };
}

function partsOf({ steps }: Tracer<Activation>, source: string): ExpressionValues['parts'] {
  return reportedSteps(steps(), source).map((step) => ({
    text: oneLine(source.slice(step.span.start, step.span.end), TEXT_UNITS),
    value: shownStep(step),
  }));
}

/** Skipped parts are reported once as a whole; list literals are omitted. */
function reportedSteps(steps: readonly Step[], source: string): Step[] {
  let skippedUpTo = -1;
  return steps.filter(({ span, skipped }) => {
    if (skipped === undefined) return source[span.start] !== '[';
    if (span.end <= skippedUpTo) return false;
    skippedUpTo = span.end;
    return true;
  });
}

const TEXT_UNITS = 80;
const VALUE_UNITS = 60;

function shownStep({ outcome, skipped }: Step): string {
  if (skipped !== undefined) return `not evaluated: ${skipped.reason}`;
  return outcome === undefined ? '' : shown(outcome);
}

function shown(outcome: Outcome): string {
  if (outcome instanceof EvalError) return `error: ${outcome.message}`;
  if (typeof outcome === 'string') return oneLine(JSON.stringify(outcome), VALUE_UNITS);
  const text = textOf(outcome);
  return oneLine(text instanceof EvalError ? text.message : text, VALUE_UNITS);
}

function oneLine(text: string, limit: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

/** The edge with recorded expressions, compiled once; `values` are those since the last `begin`. */
export const valuedEdge: (edge: EdgeFixture) => { readonly edge: EdgeFixture; readonly watch: ValueWatch } =
  weakMemoize((edge) => {
    const watch = valueWatch();
    return { edge: edge.watched(watch), watch };
  });
