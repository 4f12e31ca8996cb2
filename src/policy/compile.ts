import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Edit, InnerStep } from '../engine/contract.ts';
import { type Scope } from '../expression/scope.ts';
import { scopeFor } from '../expression/vocabulary/scopes.ts';
import type { Activation } from '../expression/vocabulary/activation.ts';
import type { ActionKind, CompiledAction, Compiling, PolicyContext } from './action.ts';
import { ACTION_FACTS } from './actions/facts.ts';
import { ACTIONS } from './actions/table.ts';
import type { ActionType } from './actions/schemas.ts';
import type { CompiledPhase, CompiledPolicy, CompiledRule } from './compiled.ts';
import type { Action, PolicyDocument, Rule } from './document/document.ts';
import { type Condition, compileCondition, compileData, compileField, compileText } from './evaluators.ts';
import { Failure } from './failure.ts';
import { loginBase } from './login.ts';
import type { Phase } from './phase.ts';
import { indexRules } from './rule_index.ts';
import { requiredFacts } from './rule_facts.ts';
import { NO_RULE } from './verdicts.ts';
import type { Walk } from './walk.ts';

export interface CompileOptions {
  /** False walks all rules, for comparing; the answers are the same. Default true. */
  readonly index?: boolean;
}

/** Compiles a document that was found free of errors. Never throws for such a document. */
export function compilePolicy(
  document: PolicyDocument,
  context: PolicyContext,
  options: CompileOptions = {},
): CompiledPolicy {
  const cells: (() => unknown)[] = [];
  const phase = (name: RunPhase, edits: readonly Edit[] | null = null): CompiledPhase | null => {
    // Messages of an event stream belong to a response, and it is looked at when that phase is over.
    const messages = name === 'on_http_response' ? document.phases.on_event_stream_message : [];
    const rules = [...document.phases[name], ...messages];
    if (rules.length === 0 && edits === null) return null;
    return compilePhase(name, rules, edits, { context, cells, isIndexed: options.index !== false });
  };
  return {
    enabled: document.enabled,
    context,
    connect: phase('on_tcp_connect'),
    request: phase('on_http_request', readsResponses(document) ? [PLAIN_RESPONSES] : null),
    response: phase('on_http_response'),
    initial: initialOf(cells),
  };
}

/**
 * An upstream that is told of no codings and asked for no part sends its response plain and whole, and only so can
 * texts in it be replaced.
 */
const PLAIN_RESPONSES: Edit = {
  edit: 'headers',
  on: 'request',
  remove: ['accept-encoding', 'range', 'if-range'],
  add: [],
};

function readsResponses({ phases }: PolicyDocument): boolean {
  const inResponses = phases.on_http_response.some(({ actions }) =>
    actions.some(({ type }) => type === 'response-body-find-replace'),
  );
  return inResponses || phases.on_event_stream_message.length > 0;
}

function initialOf(cells: readonly (() => unknown)[]): CompiledPolicy['initial'] {
  return cells.length === 0 ? null : () => ({ cells: cells.map((initial) => initial()) });
}

interface CompilingPolicy {
  readonly context: PolicyContext;
  /** Makers of the cells that the actions have asked for so far. */
  readonly cells: (() => unknown)[];
  readonly isIndexed: boolean;
}

type RunPhase = Exclude<Phase, 'on_event_stream_message'>;

function compilePhase(
  name: RunPhase,
  rules: readonly Rule[],
  edits: readonly Edit[] | null,
  { context, cells, isIndexed }: CompilingPolicy,
): CompiledPhase {
  const scope = scopeFor(name, { service: context.naming.service });
  const compiled = rules.map((rule) => compileRule(rule, name, scope, context, cells));
  const useIndex = isIndexed && context.trace === 'decided' && context.watch === undefined;
  const facts = useIndex ? compiled.map(({ conditions }) => factsOf(conditions)) : [];
  const noRule = edits === null ? NO_RULE : { ...NO_RULE, edits };
  const login = loginOf(compiled, context);
  return { phase: name, rules: compiled, index: indexRules(facts), context, edits, login, noRule };
}

/** A policy has one action that logs users in (code 2239): the first one that is found. */
function loginOf(rules: readonly CompiledRule[], { naming }: PolicyContext): CompiledPhase['login'] {
  for (const [rule, { actions }] of rules.entries()) {
    const action = actions.findIndex(({ type }) => ACTION_FACTS.get(type)?.login === true);
    if (action >= 0) return { rule, action, base: loginBase(naming.service) };
  }
  return null;
}

function factsOf(conditions: CompiledRule['conditions']) {
  const programs = conditions.map(({ program }) => program);
  return programs.every((program) => program !== null) ? requiredFacts(programs) : [];
}

function compileRule(
  rule: Rule,
  phase: RunPhase,
  scope: Scope<Activation>,
  context: PolicyContext,
  cells: (() => unknown)[],
): CompiledRule {
  const label = rule.name ?? `${rule.phase}[${rule.index}]`;
  const { pointer } = rule;
  const applies: InnerStep = {
    kind: 'rule',
    name: label,
    code: 'rule.applied',
    says:
      rule.expressions.length === 0 ? 'the rule has no expressions' : 'all expressions of the rule are true',
    detail: {},
    pointer,
  };
  const conditions = [
    ...(rule.phase === 'on_event_stream_message' ? [onlyStreams(pointer)] : []),
    ...rule.expressions.map((each) => compileCondition(each.text, each.pointer, scope, context.watch)),
  ];
  return {
    label,
    pointer,
    conditions,
    notApplied: conditions.map(({ text }) => notAppliedStep(applies, text)),
    actions: rule.actions.map((action) => compileAction(action, phase, scope, context, cells)),
    applies,
  };
}

function notAppliedStep({ kind, name, pointer }: InnerStep, expression: string): InnerStep {
  const says = 'an expression of the rule is false';
  return { kind, name, code: 'rule.not_applied', says, detail: { expression }, pointer };
}

/** What rules on messages require of a response before anything else. */
function onlyStreams(pointer: string): Condition {
  return { text: 'the response is an event stream', pointer, evaluate: isEventStream, program: null };
}

function isEventStream({ responseMedia }: Activation): boolean {
  return responseMedia.essence === 'text/event-stream';
}

function compileAction(
  action: Action,
  phase: RunPhase,
  scope: Scope<Activation>,
  context: PolicyContext,
  cells: (() => unknown)[],
): CompiledAction {
  const kind = ACTIONS[action.type] as ActionKind<ActionType>;
  const { watch, naming } = context;
  const { service } = naming;
  const config = pointerTo(action.pointer, 'config');
  const compiling: Compiling = {
    context,
    phase,
    pointer: action.pointer,
    template: (text, at) => compileText(text, config + at, scope, service, watch),
    data: (value, at) => compileData(value, config + at, scope, service, watch),
    expression: (text, at, where) =>
      compileField(
        text,
        config + at,
        where === 'retry' ? scopeFor('retry_condition', { service }) : scope,
        watch,
      ),
    cell: (initial) => {
      const index = cells.push(initial) - 1;
      return { index, of: (walk: Walk) => walk.state!.cells[index] as never };
    },
    failure: (number, says) => new Failure(number, says, action.pointer),
  };
  const { run, onFailure = null } = kind.compile(action, compiling);
  return {
    type: action.type,
    pointer: action.pointer,
    run,
    onFailure,
    lastEnd: { ended: null, because: null },
  };
}
