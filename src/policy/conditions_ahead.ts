import { compiledCondition } from '../filters/evaluators.ts';
import { PHASES, scopePhase } from '../filters/phase.ts';
import { isEntries } from './document/config.ts';
import { plainJson } from './document/plain_json.ts';
import { scopeFor } from './env/scopes.ts';

/** Conditions that are compiled in one slice: a few milliseconds. */
const SLICE = 250;

/**
 * Compiles the conditions of a policy slice by slice, so that its check and its compilation find them. They are found as
 * long as what this returns is in use. A text that is not plain JSON is left to them.
 */
export function* conditionsAhead(text: string, service: string): Generator<void, readonly object[]> {
  const policy: unknown = plainJson(text);
  const kept: object[] = [];
  if (!isEntries(policy)) return kept;
  yield;
  for (const phase of PHASES) {
    const scope = scopeFor(scopePhase(phase), { service });
    for (const expression of expressionsIn(policy[phase])) {
      kept.push(compiledCondition(expression, scope).kept);
      if (kept.length % SLICE === 0) yield;
    }
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
