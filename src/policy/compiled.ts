import type { Edit, InnerStep, Pass } from '../engine/contract.ts';
import type { CompiledAction, Concluded, PolicyContext } from '../filters/action.ts';
import type { Condition } from '../filters/evaluators.ts';
import type { LooseConditions } from './loose_path.ts';
import type { Phase } from '../filters/phase.ts';
import type { RuleIndex } from './rule_index.ts';
import type { PolicyState } from '../filters/policy_run.ts';
import type { RuleName } from './verdicts.ts';

export interface CompiledRule extends RuleName {
  readonly conditions: readonly Condition[];
  readonly actions: readonly CompiledAction[];
  /** The conditions for other readings of the path; null unless the rule guards by the path. */
  readonly loose: LooseConditions | null;
  /** The step that reports that the rule applies. */
  readonly applies: InnerStep;
  /** For each condition, the step that reports that the rule does not apply because of it. */
  readonly notApplied: readonly InnerStep[];
}

/** The rules of one phase, in order. */
export interface CompiledPhase {
  readonly phase: Phase;
  readonly rules: readonly CompiledRule[];
  /** Null if every rule is evaluated: few rules, no usable facts, or a full trace. */
  readonly index: RuleIndex | null;
  /**
   * Rules that guard by the path, which the index must not skip because it knows one reading of the path only: all of
   * them, and those that may apply even if there is only one.
   */
  readonly pathGuards: { readonly all: Int32Array; readonly always: Int32Array };
  readonly context: PolicyContext;
  /** Edits for every exchange in this phase, whether or not a rule applies. */
  readonly edits: readonly Edit[] | null;
  /** The login action, and its reserved paths; null if there is none. */
  readonly login: { readonly rule: number; readonly action: number; readonly base: string } | null;
  /** The verdict if no rule applies. */
  readonly noRule: Pass;
}

/** A compiled policy: immutable. Null phases have no rules. */
export interface CompiledPolicy {
  readonly enabled: boolean;
  readonly context: PolicyContext;
  readonly connect: CompiledPhase | null;
  readonly request: CompiledPhase | null;
  readonly response: CompiledPhase | null;
  /** Creates the initial state; null for a policy without state. */
  readonly initial: ((identity: () => string) => PolicyState) | null;
  /** What changes each cell of the state by the outcome of a request; null if nothing changes any. */
  readonly concluded: readonly (Concluded<unknown> | undefined)[] | null;
}
