import type { Connection } from '../../engine/contract.ts';
import { type Tracer, tracer } from '../../expression/explain.ts';
import type { Step } from '../../expression/explain.ts';
import { EvalError, type Outcome } from '../../expression/values.ts';
import type { Activation } from '../../expression/vocabulary/activation.ts';
import { textOf } from '../../expression/vocabulary/json.ts';
import type { EdgeUnderTest, Watching } from '../under_test.ts';

/** What the parts of one expression came to: plain data. */
export interface ExpressionValues {
  /** JSON pointer of the expression. */
  readonly pointer: string;
  readonly source: string;
  /** Outer parts before inner ones; constants left out. */
  readonly parts: readonly { readonly text: string; readonly value: string }[];
}

/** Remembers how the expressions that were evaluated for one connection went. */
interface ValueWatch extends Watching {
  /** Forgets everything; what is evaluated for any connection counts until one is followed. */
  readonly begin: () => void;
  /** From here on only what is evaluated for this connection counts: of many requests each has its own. */
  readonly follow: (connection: Connection) => void;
  readonly values: () => readonly ExpressionValues[];
}

function valueWatch(): ValueWatch {
  const kept = new Map<string, ExpressionValues>();
  let followed: Connection | null = null;
  return {
    landed: () => {},
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
  return worthTelling(steps(), source).map((step) => ({
    text: oneLine(source.slice(step.span.start, step.span.end), TEXT_UNITS),
    value: shownStep(step),
  }));
}

/** Of what was not looked at only the whole of it; lists that stand in the source say nothing new. */
function worthTelling(steps: readonly Step[], source: string): Step[] {
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
  if (skipped !== undefined) return `not looked at: ${skipped.because}`;
  return outcome === undefined ? '' : shown(outcome);
}

function shown(outcome: Outcome): string {
  if (outcome instanceof EvalError) return `error: ${outcome.says}`;
  if (typeof outcome === 'string') return oneLine(JSON.stringify(outcome), VALUE_UNITS);
  const text = textOf(outcome);
  return oneLine(text instanceof EvalError ? text.says : text, VALUE_UNITS);
}

function oneLine(text: string, limit: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

const valued = new WeakMap<EdgeUnderTest, { readonly edge: EdgeUnderTest; readonly watch: ValueWatch }>();

/** The edge with its expressions followed, compiled once; `values` are those since the last `begin`. */
export function valuedEdge(edge: EdgeUnderTest): {
  readonly edge: EdgeUnderTest;
  readonly watch: ValueWatch;
} {
  let known = valued.get(edge);
  if (known === undefined) {
    const watch = valueWatch();
    valued.set(edge, (known = { edge: edge.watched(watch), watch }));
  }
  return known;
}
