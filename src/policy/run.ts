import { ask } from '../engine/contract.ts';
import { NO_EDITS } from '../engine/pipeline.ts';
import type { Ask, Connection, InnerStep, RequestHead, Verdict, World } from '../engine/contract.ts';
import type { Activation } from '../expression/vocabulary/activation.ts';
import type { ActionOutcome, CompiledAction } from './action.ts';
import type { CompiledPhase, CompiledRule } from './compiled.ts';
import { conditionFailure } from './evaluators.ts';
import { Failure } from './failure.ts';
import { type Candidates, candidatesOf, nextCandidate } from './rule_index.ts';
import { type Carried, appliedPass, failureDetail, failureStop, stopOf } from './verdicts.ts';
import { keepResult } from './walk.ts';
import type { Awaited, PolicyState, Walk } from './walk.ts';

/** What the response phase and `reduce` get of the request phase. */
export interface Carry {
  readonly activation: Activation;
  /** Circuits that wait to hear how the request went. */
  readonly awaited: readonly Awaited[] | null;
  /** What the response phase sets. */
  readonly cookies: readonly string[] | null;
}

/**
 * Walks the rules of one phase: in order, the expressions of a rule evaluated when the rule is reached, its
 * actions in order, until an action ends the phase. An exchange to which no rule applies allocates nothing
 * here, and one without questions never leaves the stack. Never throws but for a bug.
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
  const candidates = search(phase, activation);
  const found = nextApplying(phase, activation, candidates, 0, steps);
  if (found === phase.rules.length) return steps === null ? phase.noRule : { ...phase.noRule, inner: steps };
  const walk = walkOf(phase, activation, head, connection, state, world, steps ?? []);
  return carryOut(walk, phase, candidates, found);
}

/**
 * Runs the action that logs users in, out of turn: a provider that calls back must come to it whatever the
 * expressions before it say of the path. It answers; should it not, the rules after it follow.
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
  const walk = walkOf(phase, activation, head, connection, state, world, []);
  const rule = phase.rules[at.rule]!;
  walk.steps.push(rule.applies);
  const ended = settle(walk, phase, at.rule, at.action, rule.actions[at.action]!.run(walk));
  return ended ?? goOn(walk, phase, at.rule, at.action + 1);
}

function walkOf(
  phase: CompiledPhase,
  activation: Activation,
  head: RequestHead | null,
  connection: Connection,
  state: PolicyState | null,
  world: World,
  steps: InnerStep[],
): Walk {
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

/** A rule one of whose expressions gave no answer. */
interface Broken {
  readonly rule: CompiledRule;
  readonly failure: Failure;
}

function search({ index }: CompiledPhase, activation: Activation): Candidates | null {
  return index === null ? null : candidatesOf(index.find(activation));
}

/** The position of the first rule from `from` on that applies; the number of rules when none does. */
function nextApplying(
  phase: CompiledPhase,
  activation: Activation,
  candidates: Candidates | null,
  from: number,
  steps: InnerStep[] | null,
): number | Broken {
  const { rules } = phase;
  const end = rules.length;
  let at = candidates === null ? from : nextCandidate(candidates, from, end);
  while (at < end) {
    const rule = rules[at]!;
    const broken = evaluateRule(rule, activation, steps);
    if (broken === true) return at;
    if (broken !== false) return { rule, failure: broken };
    at = candidates === null ? at + 1 : nextCandidate(candidates, at + 1, end);
  }
  return end;
}

/** Whether a rule applies: all its expressions are true, none after the first that is not is looked at. */
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

/** Carries out the rule at `found` and all that follow it and apply. */
function carryOut(
  walk: Walk,
  phase: CompiledPhase,
  searched: Candidates | null,
  found: number | Broken,
): Verdict | Ask {
  const { activation } = walk;
  const steps = phase.context.trace === 'full' ? walk.steps : null;
  let candidates = searched;
  let at = found;
  while (at !== phase.rules.length) {
    if (typeof at !== 'number') return failed(walk, phase, at.rule, null, at.failure);
    const rule = phase.rules[at]!;
    walk.steps.push(rule.applies);
    const { changes } = walk;
    const ended = runActions(walk, phase, at, 0);
    if (ended !== null) return ended;
    if (walk.changes !== changes) candidates = search(phase, activation);
    at = nextApplying(phase, activation, candidates, at + 1, steps);
  }
  return appliedPass(carriedBy(walk));
}

/** Runs the actions of a rule from `first` on; null when all of them let the walk go on. */
function runActions(walk: Walk, phase: CompiledPhase, ruleAt: number, first: number): Verdict | Ask | null {
  const rule = phase.rules[ruleAt]!;
  const { actions } = rule;
  for (let index = first; index < actions.length; index++) {
    const ended = settle(walk, phase, ruleAt, index, actions[index]!.run(walk));
    if (ended !== null) return ended;
  }
  return null;
}

/** Takes what an action has come to; null when the next action follows. */
function settle(
  walk: Walk,
  phase: CompiledPhase,
  ruleAt: number,
  actionAt: number,
  outcome: ActionOutcome,
): Verdict | Ask | null {
  const rule = phase.rules[ruleAt]!;
  const action = rule.actions[actionAt]!;
  if (outcome instanceof Failure) {
    if (action.onFailure === null) return failed(walk, phase, rule, action, outcome);
    passOver(walk, phase, action, action.onFailure, outcome);
    return null;
  }
  if (outcome.does === 'wait') {
    return ask(outcome.question, (answer) => {
      const ended = settle(walk, phase, ruleAt, actionAt, outcome.resume(answer as never));
      return ended ?? goOn(walk, phase, ruleAt, actionAt + 1);
    });
  }
  walk.steps.push(outcome.step);
  if (outcome.does === 'next') return null;
  // A response that takes the place of another one takes the place of what was done to that one, too.
  if (walk.phase === 'on_http_response')
    walk.edits = walk.edits?.filter(({ edit }) => edit === 'log') ?? null;
  return stopOf(outcome, rule, action, carriedBy(walk));
}

/** Goes on after a question: the remaining actions of the rule, then the rules after it. */
function goOn(walk: Walk, phase: CompiledPhase, ruleAt: number, actionAt: number): Verdict | Ask {
  const ended = runActions(walk, phase, ruleAt, actionAt);
  if (ended !== null) return ended;
  const { activation } = walk;
  const candidates = search(phase, activation);
  const steps = phase.context.trace === 'full' ? walk.steps : null;
  return carryOut(walk, phase, candidates, nextApplying(phase, activation, candidates, ruleAt + 1, steps));
}

/** An action failed and is told to go on: what went wrong is recorded where later expressions find it. */
function passOver(
  walk: Walk,
  { context }: CompiledPhase,
  action: CompiledAction,
  { result, base }: NonNullable<CompiledAction['onFailure']>,
  failure: Failure,
): void {
  const { naming } = context;
  const error = { code: naming.errorCode(failure.number), message: failure.says };
  keepResult(walk, result, { ...base, error });
  walk.steps.push({
    kind: 'action',
    name: action.type,
    code: `${action.type.replaceAll('-', '_')}.failed`,
    says: 'the action failed, and is told to go on',
    detail: failureDetail(failure, naming),
    pointer: failure.pointer,
  });
}

function failed(
  walk: Walk,
  phase: CompiledPhase,
  rule: CompiledRule,
  action: CompiledAction | null,
  failure: Failure,
): Verdict {
  return failureStop(failure, rule, action, phase, carriedBy(walk));
}

/** Edits, steps and what later phases need, as members of a verdict. */
function carriedBy({ edits, steps, activation, awaited, cookies }: Walk): Carried {
  const carry: Carry = { activation, awaited, cookies };
  return { edits: edits ?? NO_EDITS, inner: steps, carry };
}
