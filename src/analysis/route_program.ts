import type { HttpsEdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { takesAll } from '../edge/relays.ts';
import type { Pipeline } from '../engine/pipeline.ts';
import { exemptOf } from '../filters/gates.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { PolicyDocument } from '../policy/document/document.ts';
import type { TrafficPolicyConfig } from '../policy/module_schema.ts';
import type { Diagram, Truth } from './diagram.ts';
import { machineOfPattern } from './fields.ts';
import { type Model, canonical, canonicalPart, modulesOf } from './model.ts';
import { AT_START, type Effect, type Outcome, Ways, outcomeKey, refusedAt, withEffect } from './outcome.ts';
import { type PolicyProgram, type Reached, policyProgram } from './policy_program.ts';
import { dfaOf, keptDfa } from './texts/dfa.ts';
import { withAbsent } from './texts/machine.ts';
import { exempted, onExempted, withoutTls } from './exempt.ts';

/** A route of a configuration. */
export interface RoutePlace {
  readonly model: Model;
  readonly edge: HttpsEdgeConfig;
  readonly route: RouteConfig;
  readonly pipeline: Pipeline;
}

/** The outcomes of a route by class of requests: what its filters do, in the order of the engine. */
export function routeDiagram(place: RoutePlace, reached: Reached = () => undefined): Diagram<Outcome> {
  const { diagrams } = place.model.analysis;
  const ways = new Ways(place.model.analysis, [{ way: AT_START, reach: diagrams.true }]);
  const policies: PolicyProgram[] = [];
  for (const each of modulesOf(place.edge, place.route)) runModule(place, each, { ways, policies, reached });
  ways.advance(({ way, reach }) => ways.add(way, reach));
  ways.unpark();
  for (const policy of policies) policy.response(ways);
  ways.advance(({ way, reach }) => {
    // Modules that a request did not meet on its way still edit the response to it.
    const edited =
      way.answered === null
        ? way
        : responseEdits(place).reduce((sum, each) => withEffect(sum, each, [], place.model.analysis), way);
    const { effects, answered } = edited;
    ways.end(
      answered === null
        ? { end: 'forwarded', by: backendOf(effects), detail: '', effects }
        : { ...answered, effects },
      reach,
    );
  });
  const start = diagrams.leaf<Outcome>(UNREACHED, outcomeKey(UNREACHED));
  const named = (outcome: Outcome): Outcome => ({
    ...outcome,
    detail: `${outcome.detail} ${place.model.naming}`,
  });
  return ways.ended.reduce((sum, { outcome, reach }) => {
    const own = named(outcome);
    return diagrams.choose(reach, diagrams.leaf(own, outcomeKey(own)), sum, sum);
  }, start);
}

/** No request has it: the classes of all ways together are all requests. */
const UNREACHED: Outcome = { end: 'refused', by: 'engine', detail: 'unreached', effects: [] };

interface Running {
  readonly ways: Ways;
  readonly policies: PolicyProgram[];
  readonly reached: Reached;
}

function runModule(
  place: RoutePlace,
  { type, config }: { readonly type: string; readonly config: object },
  running: Running,
): void {
  const { model } = place;
  const { diagrams } = model.analysis;
  const { ways } = running;
  const facts = MODULE_FACTS.get(type)!;
  running.reached(`${place.pipeline.pointer}/${type}`, diagrams.true);
  if (facts.runsActions === true) return runPolicy(place, type, config, running);
  const effect = moduleEffect(place, type, config);
  const passes = passing(place, type, config, effect);
  ways.advance(({ way, reach }) => {
    const open = exempted(model, exemptOf(facts, config), way);
    const isExact = facts.addressLists !== undefined || facts.patternLists !== undefined;
    const detail = isExact ? '' : effect.key;
    ways.end(refusedAt(way, 'request', type, detail), diagrams.and(reach, diagrams.not(passes)));
    const passed = diagrams.and(reach, passes);
    const add = (each: Effect, some: Diagram<Truth>): void =>
      ways.add(isExact ? way : withEffect(way, each, [], model.analysis), some);
    add(effect, diagrams.and(passed, diagrams.not(open)));
    if (open !== diagrams.false) add(onExempted(effect), diagrams.and(passed, open));
  });
}

/** The requests that a module lets through. */
function passing({ model }: RoutePlace, type: string, config: object, effect: Effect): Diagram<Truth> {
  const { diagrams, atoms } = model.analysis;
  const facts = MODULE_FACTS.get(type)!;
  if (facts.ends === 'never') return diagrams.true;
  const allowed = model.allowed('module', type, config);
  if (allowed !== null) return diagrams.atom(atoms.address('client address', allowed, type));
  const lists = facts.patternLists?.(config as never);
  if (lists !== undefined) {
    const any = (patterns: readonly string[] = []): Diagram<Truth> =>
      patterns.reduce((sum, pattern) => diagrams.or(sum, agentMatches(model, pattern)), diagrams.false);
    // An allow pattern outweighs all deny patterns, and an absent agent is denied.
    const isGiven = diagrams.not(agentMatches(model, String.raw`\A\z`));
    return diagrams.or(any(lists['allow']), diagrams.and(isGiven, diagrams.not(any(lists['deny']))));
  }
  const stops = diagrams.atom(atoms.opaque(`stop of ${effect.key}`, `whether \`${type}\` stops the request`));
  const isPlain = facts.stopsPlain?.(config as never) === true ? withoutTls(model) : diagrams.false;
  return diagrams.not(diagrams.or(isPlain, stops));
}

/** Whether the user agent matches a pattern; an absent one is the empty text. */
function agentMatches({ analysis: { atoms, diagrams } }: Model, pattern: string): Diagram<Truth> {
  const dfa = keptDfa(`agent ${pattern}`, () => {
    const machine = machineOfPattern(pattern);
    return machine === null ? null : dfaOf(withAbsent(machine, machine.accepts(machine.start)));
  });
  const message = `the user agent matches '${pattern}'`;
  return diagrams.atom(
    dfa === null
      ? atoms.opaque(`user agent ${pattern}`, message)
      : atoms.text('header user-agent', dfa, message),
  );
}

function runPolicy(
  place: RoutePlace,
  type: string,
  config: object,
  { ways, policies, reached }: Running,
): void {
  const { model, pipeline } = place;
  const { diagrams, atoms } = model.analysis;
  const pointer = `${pipeline.pointer}/${type}`;
  const attached = config as TrafficPolicyConfig;
  const policy = policyProgram({ model, pointer, text: attached.value }, attached, reached);
  if (policy === null) throw new Error(`the policy at ${pointer} has errors`);
  if (!policy.document.enabled) return;
  policies.push(policy);
  if (policy.actsOnConnect || readsText(policy.document)) {
    const whole = moduleEffect(place, `${type} on connect`, connectRules(policy.document));
    const stops = diagrams.atom(
      atoms.opaque(`stop of ${whole.key}`, 'whether the policy closes the connection'),
    );
    ways.advance(({ way, reach }) => {
      if (policy.actsOnConnect)
        ways.end(refusedAt(way, 'request', type, whole.key), diagrams.and(reach, stops));
      const open = policy.actsOnConnect ? diagrams.and(reach, diagrams.not(stops)) : reach;
      ways.add(withEffect(way, whole, ['left_behind'], model.analysis), open);
    });
  }
  policy.request(ways);
}

/** What a policy does whether or not a rule applies: its connection phase, and asking upstreams for plain responses. */
function connectRules(document: PolicyDocument): object {
  const rules = document.phases.on_tcp_connect.map(({ expressions, actions }) => [
    expressions.map(({ text }) => text),
    actions.map(({ type, config }) => [type, config]),
  ]);
  return { rules, readsText: readsText(document) };
}

function readsText({ phases }: PolicyDocument): boolean {
  const actions = phases.on_http_response.flatMap((rule) => rule.actions);
  return (
    phases.on_event_stream_message.length > 0 ||
    actions.some(({ type }) => ACTION_FACTS.get(type)!.readsText === true)
  );
}

function moduleEffect({ model, pipeline }: RoutePlace, type: string, config: object): Effect {
  const text = canonical({ ...config, description: undefined, metadata: undefined });
  const facts = MODULE_FACTS.get(type);
  const refers = (facts?.references ?? []).map(({ kind }) => {
    if (kind === 'backend') return model.backend(backendIdOf(config));
    const { certificate_authorities: authorities, ip_policies: policies } = model.config;
    return model.analysis.nameOf(canonicalPart(kind === 'certificate_authority' ? authorities : policies));
  });
  const around = model.surroundings(text, pipeline.pointer);
  // The names of a gate's cookies and paths depend on its place among the gates of its edge.
  const gates = facts?.login === true ? model.surroundings('cookie', '') : '';
  const state = facts?.remembersMs === undefined ? '' : ` of ${model.routeName(pipeline.pointer)}`;
  const key = model.analysis.nameOf(`${type} ${text} ${refers.join()}${around}${gates}${state}`);
  const backend =
    facts?.references?.some(({ kind }) => kind === 'backend') === true ? backendIdOf(config) : null;
  return {
    type: backend === null ? type : `backend ${backend}`,
    key,
    isUpstreamOnly: false,
    isLogin: facts?.login === true,
    passage: 'passed',
    mayFail: text.includes('${') || (backend !== null && !takesAll(model.config, backend)),
    backends: backend === null ? [] : model.backendNames(backend),
  };
}

function backendIdOf(config: object): string {
  return (config as { readonly backend_id: string }).backend_id;
}

/** The backend among the effects; empty for a route without one. */
function backendOf(effects: readonly Effect[]): string {
  return effects.find(({ type }) => type.startsWith('backend '))?.type.slice('backend '.length) ?? '';
}

/** What modules do to a response of the edge itself that runs through the response phase. */
function responseEdits(place: RoutePlace): readonly Effect[] {
  return modulesOf(place.edge, place.route).flatMap(({ type, config }) => {
    const filter = place.pipeline.filters.find(({ module }) => module === type);
    const isPolicy = MODULE_FACTS.get(type)!.runsActions === true;
    return isPolicy || (filter?.onResponse ?? null) === null
      ? []
      : [{ ...moduleEffect(place, type, config), passage: 'later' }];
  });
}
