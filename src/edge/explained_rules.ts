import { type DecidingPart, decidingPart } from '../cel/deciding_part.ts';
import { type Tracer, tracer } from '../cel/explain.ts';
import { valueText } from '../cel/value_text.ts';
import { EvalError, type Outcome } from '../cel/values.ts';
import type { Span } from '../diagnostics/diagnostic.ts';
import { printable } from '../diagnostics/display.ts';
import type { InnerStep } from '../engine/contract.ts';
import type { Redact } from '../engine/redact.ts';
import type { Watch } from '../filters/evaluators.ts';
import type { Activation } from '../policy/env/activation.ts';
import type { ConnectionInput } from '../policy/env/inputs.ts';
import type { Explanation, LocatedStep, StreamExplanation } from './explain.ts';
import { type ValueOfPart, oneLine, outcomeText, partsText, valuesOfParts } from './expression_values.ts';

/** An expression of a policy with the values of its parts: plain data, without secrets. */
export interface ExpressionValues {
  /** JSON pointer of the expression, or of the text that contains it. */
  readonly pointer: string;
  readonly source: string;
  /** As an expression would write it, or `error: …`. */
  readonly value: string;
  /** The smallest part that decided, and its value; null if nothing was evaluated. */
  readonly decided: ValueOfSpan | null;
  /** Outer parts before inner ones; constants are omitted. */
  readonly parts: readonly ValueOfPart[];
}

type ValueOfSpan = Pick<ValueOfPart, 'start' | 'end' | 'value'>;

/** An evaluation of an expression of a policy. */
interface Evaluated {
  readonly pointer: string;
  readonly source: string;
  readonly outcome: Outcome;
  readonly decided: DecidingPart | null;
  readonly parts: readonly ValueOfPart[];
}

/** Records how the expressions of policies were evaluated; an edge is compiled with its `watch` and a full trace. */
export interface RuleWatch {
  readonly watch: Watch;
  /** What was recorded for one connection, which has one exchange. */
  readonly of: (connection: ConnectionInput) => RuleReasons;
}

/** What was recorded for one exchange. */
interface RuleReasons {
  /** The explanation, in which rules that do not apply say which part of which expression is false. */
  readonly withReasons: <Of extends Explanation | StreamExplanation>(explanation: Of) => Of;
  /** All expressions with the values of all their parts, in the order of their last evaluation. */
  readonly values: () => readonly ExpressionValues[];
}

const VALUE_UNITS = 80;
const NOTHING: ReadonlyMap<string, Evaluated> = new Map();

/**
 * Only the last evaluation of each expression is kept, and only as long as the connection is. What is evaluated while
 * `isRecording` is false costs nothing more.
 */
export function ruleWatch(redact: Redact, isRecording: () => boolean = () => true): RuleWatch {
  const recorded = new WeakMap<ConnectionInput, Map<string, Evaluated>>();
  return {
    watch: (program, pointer, start) => {
      const { source } = program;
      let followed: Tracer<Activation> | null = null;
      const key = `${pointer} ${start}`;
      return (activation) => {
        if (!isRecording()) return program.evaluate(activation);
        followed ??= tracer(program);
        const outcome = followed.evaluate(activation);
        const steps = followed.steps();
        const { connection } = activation;
        let evaluated = recorded.get(connection);
        if (evaluated === undefined) recorded.set(connection, (evaluated = new Map()));
        evaluated.delete(key);
        const [decided, parts] = [decidingPart(program, steps), valuesOfParts(source, { steps })];
        evaluated.set(key, { pointer, source, outcome, decided, parts });
        return outcome;
      };
    },
    of: (connection) => reasonsIn(recorded.get(connection) ?? NOTHING, redact),
  };
}

function reasonsIn(evaluated: ReadonlyMap<string, Evaluated>, redact: Redact): RuleReasons {
  const withReason = <Of extends InnerStep>(step: Of): Of => {
    if (step.code !== NOT_APPLIED) return step;
    const own = [...evaluated.values()].find(
      ({ pointer, source }) => source === step.detail['expression'] && pointer.startsWith(`${step.pointer}/`),
    );
    return own === undefined ? step : { ...step, message: redact(`does not apply: ${falsity(own)}`) };
  };
  return {
    withReasons: (explanation) => {
      const steps = explanation.steps.map((step): LocatedStep =>
        step.inner === undefined ? step : { ...step, inner: step.inner.map(withReason) },
      );
      return { ...explanation, steps, decidedBy: steps[explanation.steps.indexOf(explanation.decidedBy)]! };
    },
    values: () => Array.from(evaluated.values(), (each) => valuesOf(each, redact)),
  };
}

function valuesOf({ pointer, source, outcome, decided, parts }: Evaluated, redact: Redact): ExpressionValues {
  const shownSource = redact(source);
  const whole = { start: 0, end: shownSource.length };
  // The places of parts are not known in a source with a redacted secret.
  const placed = (span: Span): Span => (shownSource === source ? span : whole);
  const valueOf = (of: Outcome, span: Span): string => redact(outcomeText(of, source, span));
  return {
    pointer,
    source: shownSource,
    value: valueOf(outcome, { start: 0, end: source.length }),
    decided: decided && { ...placed(decided.span), value: valueOf(decided.outcome, decided.span) },
    parts: parts.map(({ text, start, end, value, ...rest }) => ({
      ...rest,
      ...placed({ start, end }),
      text: redact(text),
      value: redact(value),
    })),
  };
}

/** The values of all expressions for a terminal. */
export function valuesText(values: readonly ExpressionValues[]): string {
  return values.map(({ parts }) => `\n${partsText(parts)}\n`).join('');
}

const NOT_APPLIED = 'rule.not_applied';

/** `req.method == 'POST' is false (req.method is 'GET')`. */
function falsity({ source, decided, outcome }: Evaluated): string {
  if (decided === null) return `${oneLine(source)} is ${shown(outcome)}`;
  const text = ({ start, end }: { readonly start: number; readonly end: number }): string =>
    oneLine(source.slice(start, end));
  const operands = decided.operands.map((each) => `${text(each.span)} is ${shown(each.outcome)}`);
  return `${text(decided.span)} is ${shown(decided.outcome)}${operands.length === 0 ? '' : ` (${operands.join(', ')})`}`;
}

function shown(outcome: Outcome): string {
  return outcome instanceof EvalError
    ? `an error: ${outcome.message}`
    : printable(valueText(outcome, VALUE_UNITS));
}
