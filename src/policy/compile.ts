import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { InnerStep } from '../engine/contract.ts';
import { type Scope } from '../expression/scope.ts';
import { scopeFor } from '../expression/vocabulary/scopes.ts';
import type { Activation } from '../expression/vocabulary/activation.ts';
import type { ActionKind, CompiledAction, Compiling, PolicyContext } from './action.ts';
import { ACTIONS } from './actions/table.ts';
import type { ActionType } from './actions/schemas.ts';
import type { CompiledPhase, CompiledPolicy, CompiledRule } from './compiled.ts';
import type { Action, PolicyDocument, Rule } from './document/document.ts';
import { compileCondition, compileData, compileField, compileText } from './evaluators.ts';
import { Failure } from './failure.ts';
import type { Phase } from './phase.ts';
import { indexRules } from './rule_index.ts';
import { requiredFacts } from './rule_facts.ts';
import type { PolicyState, Walk } from './walk.ts';

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
  const phase = (name: 'on_tcp_connect' | 'on_http_request' | 'on_http_response'): CompiledPhase | null => {
    const rules = document.phases[name];
    return rules.length === 0 ? null : compilePhase(name, rules, context, cells, options.index !== false);
  };
  const [connect, request, response] = [
    phase('on_tcp_connect'),
    phase('on_http_request'),
    phase('on_http_response'),
  ];
  return {
    enabled: document.enabled,
    context,
    connect,
    request,
    response,
    initial: cells.length === 0 ? null : (): PolicyState => ({ cells: cells.map((initial) => initial()) }),
  };
}

type RunPhase = Exclude<Phase, 'on_event_stream_message'>;

function compilePhase(
  name: RunPhase,
  rules: readonly Rule[],
  context: PolicyContext,
  cells: (() => unknown)[],
  isIndexed: boolean,
): CompiledPhase {
  const scope = scopeFor(name, { service: context.naming.service });
  const compiled = rules.map((rule) => compileRule(rule, name, scope, context, cells));
  const useIndex = isIndexed && context.trace === 'decided';
  const facts = useIndex ? compiled.map(({ conditions }) => factsOf(conditions)) : [];
  return { phase: name, rules: compiled, index: indexRules(facts), context };
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
  const label = rule.name ?? `${phase}[${rule.index}]`;
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
  return {
    label,
    pointer,
    conditions: rule.expressions.map((each) => compileCondition(each.text, each.pointer, scope)),
    actions: rule.actions.map((action) => compileAction(action, phase, scope, context, cells)),
    applies,
  };
}

function compileAction(
  action: Action,
  phase: RunPhase,
  scope: Scope<Activation>,
  context: PolicyContext,
  cells: (() => unknown)[],
): CompiledAction {
  const kind = ACTIONS[action.type] as ActionKind<ActionType>;
  const { service } = context.naming;
  const config = pointerTo(action.pointer, 'config');
  const compiling: Compiling = {
    context,
    phase,
    pointer: action.pointer,
    template: (text, at) => compileText(text, config + at, scope, service),
    data: (value, at) => compileData(value, config + at, scope, service),
    expression: (text, at, where) =>
      compileField(text, config + at, where === 'retry' ? scopeFor('retry_condition', { service }) : scope),
    cell: (initial) => {
      const index = cells.push(initial) - 1;
      return { index, of: (walk: Walk) => walk.state!.cells[index] as never };
    },
    failure: (number, says) => new Failure(number, says, action.pointer),
  };
  const { run, onFailure = null } = kind.compile(action, compiling);
  return { type: action.type, pointer: action.pointer, run, onFailure };
}
