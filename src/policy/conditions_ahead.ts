import { compiledCondition } from '../filters/evaluators.ts';
import { PHASES, scopePhase } from '../filters/phase.ts';
import { type Steps, eachInSteps } from '../config_file/steps.ts';
import { isEntries } from './document/config.ts';
import { scopeFor } from './env/scopes.ts';

/**
 * Compiles the conditions of a policy slice by slice, so that its check and its compilation find them. They are found as
 * long as what this returns is in use. `policy` is the value of its text.
 */
export function* conditionsAhead(policy: unknown, service: string): Steps<readonly object[]> {
  const kept: object[] = [];
  if (!isEntries(policy)) return kept;
  for (const phase of PHASES) {
    const scope = scopeFor(scopePhase(phase), { service });
    yield* eachInSteps(expressionsIn(policy[phase]), (expression) =>
      kept.push(compiledCondition(expression, scope).kept),
    );
  }
  return kept;
}

function expressionsIn(rules: unknown): readonly string[] {
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: unknown) => {
    const expressions = isEntries(rule) ? rule['expressions'] : undefined;
    if (!Array.isArray(expressions)) return [];
    return expressions.filter((each) => typeof each === 'string');
  });
}
