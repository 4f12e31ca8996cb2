import {
  ask,
  type Connection,
  type InnerStep,
  type RequestHead,
  type Verdict,
  type World,
  type Ask,
} from '../engine/contract.ts';
import { NO_EDITS } from '../engine/pipeline.ts';
import type { Activation } from './env/activation.ts';
import type { ActionOutcome, CompiledAction } from '../filters/action.ts';
import type { CompiledPhase, CompiledRule } from './compiled.ts';
import { Failure } from '../filters/failure.ts';
import type { Candidates } from './rule_index.ts';
import { type Found, candidateRules, looselyApplies, nextApplying } from './rule_search.ts';
import { type PolicyEffects, appliedPass, failureDetail, failureStop, stopOf } from './verdicts.ts';
import { type Awaited, type PolicyState, type PolicyRun, keepResult } from '../filters/policy_run.ts';

/** What the response phase and `reduce` get from the request phase. */
export interface FilterData {
  readonly activation: Activation;
  /** Cells that wait for the outcome of the request. */
  readonly awaited: readonly Awaited[] | null;
  /** Cookies that the response phase sets. */
  readonly cookies: readonly string[] | null;
}

/**
 * Runs the rules of one phase in order: each rule's expressions are evaluated when the rule is reached, then
 * its actions run, until an action ends the phase. An exchange to which no rule applies allocates nothing here,
 * and one without questions runs synchronously. Throws only on a bug.
 */
export function runPhase(
  phase: CompiledPhase,
  activation: Activation,
  head: RequestHead | null,
  connection: Connection,
  state: PolicyState | null,
  world: World,
): Verdict | Ask {
  const steps: InnerStep[] | null = phase.context.trace === 'full' ? [] : null;
  const candidates = candidateRules(phase, activation);
  const found = nextApplying(phase, activation, candidates, 0, steps);
  if (found === phase.rules.length) return steps === null ? phase.noRule : { ...phase.noRule, inner: steps };
  const policyRun = newPolicyRun(phase, activation, head, connection, state, world, steps ?? []);
  return carryOut(policyRun, phase, candidates, found);
}

/**
 * Runs the login action first: a provider's callback must reach it whatever earlier expressions say about the
 * path. If it does not respond, the rules after it follow.
 */
export function runLogin(
  phase: CompiledPhase,
  at: NonNullable<CompiledPhase['login']>,
  activation: Activation,
  head: RequestHead,
  connection: Connection,
  state: PolicyState | null,
  world: World,
): Verdict | Ask {
  const policyRun = newPolicyRun(phase, activation, head, connection, state, world, []);
  const rule = phase.rules[at.rule]!;
  policyRun.steps.push(rule.applies);
  const ended = settle(policyRun, phase, at.rule, at.action, rule.actions[at.action]!.run(policyRun));
  return ended ?? goOn(policyRun, phase, at.rule, at.action + 1);
}

function newPolicyRun(
  phase: CompiledPhase,
  activation: Activation,
  head: RequestHead | null,
  connection: Connection,
  state: PolicyState | null,
  world: World,
  steps: InnerStep[],
): PolicyRun {
  return {
    phase: phase.phase,
    activation,
    connection,
    world,
    state,
    head,
    edits: phase.edits === null ? null : [...phase.edits],
    steps,
    awaited: null,
    cookies: null,
    requestBody: null,
    responseBody: null,
    changes: 0,
  };
}

/** Runs the rule at `found` and all applicable rules after it. */
function carryOut(
  policyRun: PolicyRun,
  phase: CompiledPhase,
  searched: Candidates | null,
  found: Found,
): Verdict | Ask {
  const { activation } = policyRun;
  const steps = phase.context.trace === 'full' ? policyRun.steps : null;
  let candidates = searched;
  let at = found;
  while (at !== phase.rules.length) {
    if (typeof at !== 'number') {
      if ('failure' in at) return failed(policyRun, phase, at.rule, null, at.failure);
      policyRun.steps.push(looselyApplies(at));
      at = at.at;
    } else policyRun.steps.push(phase.rules[at]!.applies);
    const { changes } = policyRun;
    const ended = runActions(policyRun, phase, at, 0);
    if (ended !== null) return ended;
    if (policyRun.changes !== changes) candidates = candidateRules(phase, activation);
    at = nextApplying(phase, activation, candidates, at + 1, steps);
  }
  return appliedPass(effectsOf(policyRun));
}

/** Runs the actions of a rule from `first` on; null when all of them let the phase continue. */
function runActions(
  policyRun: PolicyRun,
  phase: CompiledPhase,
  ruleAt: number,
  first: number,
): Verdict | Ask | null {
  const rule = phase.rules[ruleAt]!;
  const { actions } = rule;
  for (let index = first; index < actions.length; index++) {
    const ended = settle(policyRun, phase, ruleAt, index, actions[index]!.run(policyRun));
    if (ended !== null) return ended;
  }
  return null;
}

/** Applies the result of an action; null if the next action follows. */
function settle(
  policyRun: PolicyRun,
  phase: CompiledPhase,
  ruleAt: number,
  actionAt: number,
  outcome: ActionOutcome,
): Verdict | Ask | null {
  const rule = phase.rules[ruleAt]!;
  const action = rule.actions[actionAt]!;
  if (outcome instanceof Failure) {
    if (action.onFailure === null) return failed(policyRun, phase, rule, action, outcome);
    passOver(policyRun, phase, action, action.onFailure, outcome);
    return null;
  }
  if (outcome.verdict === 'ask') {
    return ask(outcome.question, (answer) => {
      const ended = settle(policyRun, phase, ruleAt, actionAt, outcome.resume(answer));
      return ended ?? goOn(policyRun, phase, ruleAt, actionAt + 1);
    });
  }
  policyRun.steps.push(outcome.step);
  if (outcome.verdict === 'pass') return null;
  // A response that replaces another also discards the edits of the other.
  if (policyRun.phase === 'on_http_response')
    policyRun.edits = policyRun.edits?.filter(({ edit }) => edit === 'log') ?? null;
  return stopOf(outcome, rule, action, effectsOf(policyRun));
}

/** Continues after a question: the remaining actions of the rule, then the rules after it. */
function goOn(policyRun: PolicyRun, phase: CompiledPhase, ruleAt: number, actionAt: number): Verdict | Ask {
  const ended = runActions(policyRun, phase, ruleAt, actionAt);
  if (ended !== null) return ended;
  const { activation } = policyRun;
  const candidates = candidateRules(phase, activation);
  const steps = phase.context.trace === 'full' ? policyRun.steps : null;
  return carryOut(
    policyRun,
    phase,
    candidates,
    nextApplying(phase, activation, candidates, ruleAt + 1, steps),
  );
}

/** Continues after a failed action: the error is recorded for later expressions. */
function passOver(
  policyRun: PolicyRun,
  { context }: CompiledPhase,
  action: CompiledAction,
  { result, base }: NonNullable<CompiledAction['onFailure']>,
  failure: Failure,
): void {
  const { branding } = context;
  const error = { code: branding.errorCode(failure.number), message: failure.message };
  const known = typeof base === 'function' ? base(policyRun.activation) : base;
  keepResult(policyRun, result, { ...known, error });
  policyRun.steps.push({
    kind: 'action',
    name: action.type,
    code: `${action.type.replaceAll('-', '_')}.failed`,
    message: 'the action failed, and is set to continue',
    detail: {
      ...failureDetail(failure, branding),
      ...((action.config as { readonly enforce?: boolean }).enforce === false && { enforced: false }),
    },
    pointer: failure.pointer,
  });
}

function failed(
  policyRun: PolicyRun,
  phase: CompiledPhase,
  rule: CompiledRule,
  action: CompiledAction | null,
  failure: Failure,
): Verdict {
  return failureStop(failure, rule, action, phase, effectsOf(policyRun));
}

/** Edits, steps and the data for later phases, as members of a verdict. */
function effectsOf({ edits, steps, activation, awaited, cookies }: PolicyRun): PolicyEffects {
  const filterData: FilterData = { activation, awaited, cookies };
  return { edits: edits ?? NO_EDITS, inner: steps, filterData };
}
