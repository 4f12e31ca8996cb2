import type { Activation } from '../expression/vocabulary/activation.ts';
import { type Pattern, compilePattern, isPatternProblem } from '../regex/pattern.ts';
import type { Compiling } from './action.ts';
import { FAILURES, Failure } from './failure.ts';

export type PatternTemplate = (activation: Activation) => Pattern | Failure;

/** Compiles a pattern: now where its text is known, else when it has been put together. */
export function compilePatternTemplate(compiling: Compiling, text: string, at: string): PatternTemplate {
  const template = compiling.template(text, at);
  if (template.constant !== null) {
    const known = patternOf(compiling, template.constant);
    return () => known;
  }
  return (activation) => {
    const source = template.text(activation);
    return source instanceof Failure ? source : patternOf(compiling, source);
  };
}

function patternOf(compiling: Compiling, source: string): Pattern | Failure {
  const pattern = compilePattern(source);
  return isPatternProblem(pattern)
    ? compiling.failure(FAILURES.action, `the pattern cannot be used: ${pattern.says}`)
    : pattern;
}
