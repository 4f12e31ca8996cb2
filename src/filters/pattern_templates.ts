import type { Activation } from '../policy/env/activation.ts';
import { type Pattern, compilePattern, isPatternProblem } from '../regex/pattern.ts';
import type { Compiling } from './action.ts';
import { FAILURES, Failure } from './failure.ts';

export type PatternTemplate = (activation: Activation) => Pattern | Failure;

/** Error numbers of pattern failures. */
export interface PatternNumbers {
  readonly template: number;
  readonly pattern: number;
}

const USUAL: PatternNumbers = { template: FAILURES.interpolation, pattern: FAILURES.action };

/** Compiles a pattern: now if its text is known, otherwise after evaluation. */
export function compilePatternTemplate(
  compiling: Compiling,
  text: string,
  at: string,
  numbers: PatternNumbers = USUAL,
): PatternTemplate {
  const template = compiling.template(text, at);
  if (template.constant !== null) {
    const known = patternOf(compiling, template.constant, numbers);
    return () => known;
  }
  return (activation) => {
    const source = template.text(activation);
    if (source instanceof Failure) return new Failure(numbers.template, source.message, source.pointer);
    return patternOf(compiling, source, numbers);
  };
}

function patternOf(compiling: Compiling, source: string, numbers: PatternNumbers): Pattern | Failure {
  const pattern = compilePattern(source);
  return isPatternProblem(pattern)
    ? compiling.failure(numbers.pattern, `the pattern cannot be used: ${pattern.message}`)
    : pattern;
}
