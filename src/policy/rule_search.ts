import type { InnerStep } from '../engine/contract.ts';
import { conditionFailure } from '../filters/evaluators.ts';
import type { Failure } from '../filters/failure.ts';
import type { CompiledPhase, CompiledRule } from './compiled.ts';
import type { Activation } from './env/activation.ts';
import { readingThatHolds } from './loose_path.ts';
import { type Candidates, candidatesOf, nextCandidate } from './rule_index.ts';

/** A rule with an expression that failed. */
interface Broken {
  readonly rule: CompiledRule;
  readonly failure: Failure;
}

/** A rule that applies because of another reading of the path. */
interface Loosely {
  readonly rule: CompiledRule;
  readonly at: number;
  readonly reading: string;
}

/** Where a search ends; a number is the index of a rule that applies as written, or the number of rules if there is none. */
export type Found = number | Broken | Loosely;

/** The rules that may apply to an exchange; null if all of them may. */
export function candidateRules(
  { index, pathGuards }: CompiledPhase,
  activation: Activation,
): Candidates | null {
  if (index === null) return null;
  const lists = index.find(activation);
  if (pathGuards.all.length === 0) return candidatesOf(lists);
  const guards = activation.spellings === null ? pathGuards.always : pathGuards.all;
  return candidatesOf(guards.length === 0 ? lists : [...lists, guards]);
}

/** The first applicable rule at or after `from`, or one before it with an expression that fails. */
export function nextApplying(
  phase: CompiledPhase,
  activation: Activation,
  candidates: Candidates | null,
  from: number,
  steps: InnerStep[] | null,
): Found {
  const { rules } = phase;
  const end = rules.length;
  let at = candidates === null ? from : nextCandidate(candidates, from, end);
  while (at < end) {
    const rule = rules[at]!;
    const broken = evaluateRule(rule, activation, steps);
    if (broken === true) return at;
    if (broken !== false) return { rule, failure: broken };
    if (rule.loose !== null) {
      const reading = readingThatHolds(rule.loose, activation);
      if (typeof reading === 'string') return { rule, at, reading };
      if (reading !== null) return { rule, failure: reading };
    }
    at = candidates === null ? at + 1 : nextCandidate(candidates, at + 1, end);
  }
  return end;
}

/** Whether a rule applies: all its expressions are true; evaluation stops at the first that is not. */
function evaluateRule(
  { conditions, notApplied }: CompiledRule,
  activation: Activation,
  steps: InnerStep[] | null,
): boolean | Failure {
  for (let index = 0; index < conditions.length; index++) {
    const condition = conditions[index]!;
    const holds = condition.evaluate(activation);
    if (holds === true) continue;
    if (holds !== false) return conditionFailure(condition, holds);
    if (steps !== null) steps.push(notApplied[index]!);
    return false;
  }
  return true;
}

/** The step of a rule that applies to another reading of the path. */
export function looselyApplies({ rule, reading }: Loosely): InnerStep {
  const message =
    'all expressions of the rule are true for a spelling of the path that the upstream may accept';
  return { ...rule.applies, message, detail: { reading } };
}
