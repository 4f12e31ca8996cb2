import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Edit, InnerStep } from '../engine/contract.ts';
import { type Scope } from '../cel/scope.ts';
import { type Steps, PARTS_OF_STEP, atOnce } from '../config_file/steps.ts';
import { scopeFor } from './env/scopes.ts';
import type { Activation } from './env/activation.ts';
import type { ActionKind, CompiledAction, Compiling, Concluded, PolicyContext } from '../filters/action.ts';
import { isGuard } from '../filters/gates.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { ACTIONS } from '../filters/actions.ts';
import type { ActionType } from '../filters/action_schemas.ts';
import type { CompiledPhase, CompiledPolicy, CompiledRule } from './compiled.ts';
import type { Action, PolicyDocument, Rule } from './document/document.ts';
import {
  type Condition,
  compileCondition,
  compileData,
  compileField,
  compileText,
} from '../filters/evaluators.ts';
import { Failure } from '../filters/failure.ts';
import { loginBase } from '../auth/action_login.ts';
import type { ScopePhase } from '../filters/phase.ts';
import { looseConditions } from './loose_path.ts';
import { indexRules } from './rule_index.ts';
import { type RequiredFact, requiredFacts } from './rule_facts.ts';
import { NO_RULE } from './verdicts.ts';
import type { PolicyRun } from '../filters/policy_run.ts';

/** A cell of the state of an action. */
interface StateCell {
  /** Makes it; `identity` names it. */
  readonly initial: (identity: () => string) => unknown;
  readonly concluded: Concluded<unknown> | undefined;
}

export interface CompileOptions {
  /** False disables the rule index, for comparison; the results are the same. Default true. */
  readonly index?: boolean;
}

/** Compiles a document without errors. Never throws for such a document. */
export function compilePolicy(
  ...compiled: readonly [document: PolicyDocument, context: PolicyContext, options?: CompileOptions]
): CompiledPolicy {
  return atOnce(policyCompilation(...compiled));
}

/** `compilePolicy` with pauses. */
export function* policyCompilation(
  document: PolicyDocument,
  context: PolicyContext,
  options: CompileOptions = {},
): Steps<CompiledPolicy> {
  const cells: StateCell[] = [];
  const phase = function* (
    name: ScopePhase,
    edits: readonly Edit[] | null = null,
  ): Steps<CompiledPhase | null> {
    // Event stream messages belong to a response, and are processed after that phase.
    const messages = name === 'on_http_response' ? document.phases.on_event_stream_message : [];
    const rules = [...document.phases[name], ...messages];
    if (rules.length === 0 && edits === null) return null;
    return yield* compilePhase(name, rules, edits, { context, cells, isIndexed: options.index !== false });
  };
  return {
    enabled: document.enabled,
    context,
    connect: yield* phase('on_tcp_connect'),
    request: yield* phase('on_http_request', readsResponses(document) ? [PLAIN_RESPONSES] : null),
    response: yield* phase('on_http_response'),
    initial: initialOf(cells),
    concluded: cells.some(({ concluded }) => concluded !== undefined)
      ? cells.map(({ concluded }) => concluded)
      : null,
  };
}

/**
 * If the request to the upstream has no accepted codings and no range, the response is plain and complete, and
 * only then can text in it be replaced.
 */
const PLAIN_RESPONSES: Edit = {
  edit: 'headers',
  on: 'request',
  remove: ['accept-encoding', 'range', 'if-range'],
  add: [],
};

function readsResponses({ phases }: PolicyDocument): boolean {
  const inResponses = phases.on_http_response.some(({ actions }) =>
    actions.some(({ type }) => ACTION_FACTS.get(type)!.readsText === true),
  );
  return inResponses || phases.on_event_stream_message.length > 0;
}

function initialOf(cells: readonly StateCell[]): CompiledPolicy['initial'] {
  if (cells.length === 0) return null;
  return (identity) => ({
    cells: cells.map(({ initial }, index) => initial(() => `${identity()} ${index}`)),
  });
}

interface CompilingPolicy {
  readonly context: PolicyContext;
  /** The cells of the actions so far. */
  readonly cells: StateCell[];
  readonly isIndexed: boolean;
}

function* compilePhase(
  name: ScopePhase,
  rules: readonly Rule[],
  edits: readonly Edit[] | null,
  { context, cells, isIndexed }: CompilingPolicy,
): Steps<CompiledPhase> {
  const scope = scopeFor(name, { service: context.branding.service });
  const useIndex = isIndexed && context.trace === 'decided' && context.watch === undefined;
  const compiled: CompiledRule[] = [];
  const facts: (readonly RequiredFact[])[] = [];
  const [guards, always]: [number[], number[]] = [[], []];
  let parts = 0;
  for (const rule of rules) {
    const actions: CompiledAction[] = [];
    const made = compileRule(rule, actions, scope, context);
    if (useIndex) facts.push(factsOf(made.conditions));
    if (made.loose !== null) guards.push(compiled.length);
    if (made.loose?.isRewritten === true) always.push(compiled.length);
    compiled.push(made);
    for (const action of rule.actions) {
      actions.push(compileAction(action, name, scope, context, cells));
      if (++parts % PARTS_OF_STEP === 0) yield;
    }
    if (++parts % PARTS_OF_STEP === 0) yield;
  }
  return {
    phase: name,
    rules: compiled,
    index: yield* indexRules(facts),
    pathGuards: { all: Int32Array.from(guards), always: Int32Array.from(always) },
    context,
    edits,
    login: loginOf(compiled, context),
    noRule: edits === null ? NO_RULE : { ...NO_RULE, edits },
  };
}

/** A policy has at most one login action (code 2239): the first one found. */
function loginOf(rules: readonly CompiledRule[], { branding }: PolicyContext): CompiledPhase['login'] {
  for (const [rule, { actions }] of rules.entries()) {
    const action = actions.findIndex(({ type }) => ACTION_FACTS.get(type)?.login === true);
    if (action >= 0) return { rule, action, base: loginBase(branding.service) };
  }
  return null;
}

function factsOf(conditions: CompiledRule['conditions']) {
  const programs = conditions.map(({ program }) => program);
  return programs.every((program) => program !== null) ? requiredFacts(programs) : [];
}

/** Compiles a rule, whose actions the caller fills in. */
function compileRule(
  rule: Rule,
  actions: readonly CompiledAction[],
  scope: Scope<Activation>,
  context: PolicyContext,
): CompiledRule {
  const label = rule.name ?? `${rule.phase}[${rule.index}]`;
  const { pointer } = rule;
  const applies: InnerStep = {
    kind: 'rule',
    name: label,
    code: 'rule.applied',
    message:
      rule.expressions.length === 0 ? 'the rule has no expressions' : 'all expressions of the rule are true',
    detail: {},
    pointer,
  };
  const conditions = [
    ...(rule.phase === 'on_event_stream_message' ? [onlyStreams(pointer)] : []),
    ...rule.expressions.map((each) => compileCondition(each.text, each.pointer, scope, context.watch)),
  ];
  const guards = rule.actions.some(({ type, config }) => isGuard(ACTION_FACTS.get(type)!, config));
  return {
    label,
    pointer,
    conditions,
    loose: guards
      ? looseConditions(conditions, (source, { pointer: at }) => compileCondition(source, at, scope))
      : null,
    notApplied: conditions.map(({ text }) => notAppliedStep(applies, text)),
    actions,
    applies,
  };
}

function notAppliedStep({ kind, name, pointer }: InnerStep, expression: string): InnerStep {
  const message = 'an expression of the rule is false';
  return { kind, name, code: 'rule.not_applied', message, detail: { expression }, pointer };
}

/** The precondition of rules on messages. */
function onlyStreams(pointer: string): Condition {
  return { text: 'the response is an event stream', pointer, evaluate: isEventStream, program: null };
}

function isEventStream({ responseMedia }: Activation): boolean {
  return responseMedia.essence === 'text/event-stream';
}

function compileAction(
  action: Action,
  phase: ScopePhase,
  scope: Scope<Activation>,
  context: PolicyContext,
  cells: StateCell[],
): CompiledAction {
  const kind = ACTIONS[action.type] as ActionKind<ActionType>;
  const { watch, branding } = context;
  const { service } = branding;
  const config = pointerTo(action.pointer, 'config');
  const compiling: Compiling = {
    context,
    phase,
    pointer: action.pointer,
    template: (text, at) => compileText(text, config + at, scope, service, watch),
    data: (value, at) => compileData(value, config + at, scope, service, watch),
    expression: (text, at, where) =>
      compileField(text, config + at, where === undefined ? scope : scopeFor(where, { service }), watch),
    cell: (initial, concluded) => {
      const index = cells.push({ initial, concluded: concluded as Concluded<unknown> | undefined }) - 1;
      return { index, of: (policyRun: PolicyRun) => policyRun.state!.cells[index] as never };
    },
    failure: (number, message) => new Failure(number, message, action.pointer),
  };
  const { run, onFailure = null } = kind.compile(action, compiling);
  return {
    type: action.type,
    pointer: action.pointer,
    config: action.config,
    run,
    onFailure,
    lastEnd: { ended: null, reason: null },
  };
}
