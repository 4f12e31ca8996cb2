import { type DecidingPart, decidingPart } from '../cel/deciding_part.ts';
import { type Explanation as Evaluation, tracer } from '../cel/explain.ts';
import type { Explanation } from '../edge/explain.ts';
import type { InnerStep } from '../engine/contract.ts';
import type { Redact } from '../engine/redact.ts';
import type { Watch } from '../filters/evaluators.ts';
import { printable } from '../diagnostics/display.ts';
import { explanationText } from './explanation_text.ts';
import { EvalError } from '../cel/values.ts';
import { valueText } from './value_text.ts';

/** An evaluation of an expression of a policy. */
interface Evaluated extends Evaluation {
  readonly pointer: string;
  readonly source: string;
  readonly decided: DecidingPart | null;
}

/** Records how the expressions of policies were evaluated. */
export interface RuleWatch {
  readonly watch: Watch;
  /** The explanation, in which rules that do not apply say which part of which expression is false. */
  readonly withReasons: (explanation: Explanation) => Explanation;
  /** All expressions with the values of all their parts. */
  readonly values: () => string;
}

const VALUE_UNITS = 80;

export function ruleWatch(redact: Redact): RuleWatch {
  const evaluated = new Map<string, Evaluated>();
  const withReason = <Of extends InnerStep>(step: Of): Of => {
    if (step.code !== NOT_APPLIED) return step;
    const own = [...evaluated.values()].find(
      ({ pointer, source }) => source === step.detail['expression'] && pointer.startsWith(`${step.pointer}/`),
    );
    return own === undefined ? step : { ...step, message: redact(`does not apply: ${falsity(own)}`) };
  };
  return {
    watch: (program, pointer, start) => {
      const { source } = program;
      const followed = tracer(program);
      return (activation) => {
        const outcome = followed.evaluate(activation);
        const steps = followed.steps();
        const decided = decidingPart(program, steps);
        evaluated.set(`${pointer} ${start}`, { pointer, source, outcome, steps, decided });
        return outcome;
      };
    },
    withReasons: (explanation) => {
      const steps = explanation.steps.map((step) =>
        step.inner === undefined ? step : { ...step, inner: step.inner.map(withReason) },
      );
      return { ...explanation, steps, because: steps[explanation.steps.indexOf(explanation.because)]! };
    },
    values: () =>
      [...evaluated.values()].map((each) => redact(`\n${explanationText(each.source, each)}\n`)).join(''),
  };
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

function shown(outcome: Evaluated['outcome']): string {
  return outcome instanceof EvalError
    ? `an error: ${outcome.message}`
    : printable(valueText(outcome, VALUE_UNITS));
}

function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' '));
}
