import type { Edit, InnerStep, Pass } from '../engine/contract.ts';
import type { CompiledAction, PolicyContext } from './action.ts';
import type { Condition } from './evaluators.ts';
import type { Phase } from './phase.ts';
import type { RuleIndex } from './rule_index.ts';
import type { PolicyState } from './walk.ts';
import type { RuleName } from './verdicts.ts';

/** A rule ready to run. */
export interface CompiledRule extends RuleName {
  readonly conditions: readonly Condition[];
  readonly actions: readonly CompiledAction[];
  /** The step that says that the rule applies. */
  readonly applies: InnerStep;
  /** For each condition, the step that says that the rule does not apply because of it. */
  readonly notApplied: readonly InnerStep[];
}

/** The rules of one phase, in order. */
export interface CompiledPhase {
  readonly phase: Phase;
  readonly rules: readonly CompiledRule[];
  /** Null where every rule is looked at: few rules, nothing to look up, or a full trace. */
  readonly index: RuleIndex | null;
  readonly context: PolicyContext;
  /** What every exchange gets that comes into this phase, whether or not a rule applies. */
  readonly edits: readonly Edit[] | null;
  /** The action that logs users in, and the paths that are its own; null where there is none. */
  readonly login: { readonly rule: number; readonly action: number; readonly base: string } | null;
  /** The verdict on an exchange to which no rule applies. */
  readonly noRule: Pass;
}

/** A policy ready to run: immutable. Null phases have nothing to do. */
export interface CompiledPolicy {
  readonly enabled: boolean;
  readonly context: PolicyContext;
  readonly connect: CompiledPhase | null;
  readonly request: CompiledPhase | null;
  readonly response: CompiledPhase | null;
  /** Makes the first state; null when the policy remembers nothing. */
  readonly initial: (() => PolicyState) | null;
}
