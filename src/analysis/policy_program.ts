import { loginBase } from '../auth/action_login.ts';
import { type EndsWhen, whenEnds } from '../filters/facts.ts';
import { exemptOf } from '../filters/gates.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import type { Action, PolicyDocument, Rule } from '../policy/document/document.ts';
import type { TrafficPolicyConfig } from '../policy/module_schema.ts';
import { ActionEffects } from './action_effects.ts';
import type { Diagram, Truth } from './diagram.ts';
import { type PolicyPlace, type RunPhase, RuleConditions } from './rule_conditions.ts';
import { canonical, pathPrefix } from './model.ts';
import { type Effect, type Way, type Ways, SOME_LOGIN, refusedAt, withEffect } from './outcome.ts';
import { exempted, onExempted } from './exempt.ts';
import { surelyRedirected } from './redirects.ts';
import { IMAGE, literalEdit, pathImage } from './rewrites.ts';
import { noteHeaders, partsChangedBy } from './changed_parts.ts';
import { changesOfField } from './setting.ts';

/** Receives, for each rule and action, the requests that reach it: for reports about those that none reaches. */
export type Reached = (pointer: string, reach: Diagram<Truth>, more?: ReachedRule) => void;

interface ReachedRule {
  /** The requests that fulfil it without another spelling of their path, whether they reach it or not. */
  readonly written: Diagram<Truth>;
  /** Those of them that reach it. */
  readonly left: Diagram<Truth>;
  /** The requests that reach it and for which its expressions fail. */
  readonly failed: Diagram<Truth>;
}

/** A policy as a program over classes of requests. Null if its text has errors. */
export class PolicyProgram {
  readonly document: PolicyDocument;
  readonly #place: PolicyPlace;
  readonly #reached: Reached;
  readonly #conditions: RuleConditions;
  readonly #effects: ActionEffects;

  constructor(document: PolicyDocument, place: PolicyPlace, reached: Reached) {
    this.document = document;
    this.#place = place;
    this.#reached = reached;
    this.#conditions = new RuleConditions(place, document);
    this.#effects = new ActionEffects(document, place);
  }

  /** Whether it does anything before the request itself is known. */
  get actsOnConnect(): boolean {
    return this.document.phases.on_tcp_connect.length > 0;
  }

  /** The index of the rule with a login; negative without one. */
  get #loginRule(): number {
    return this.document.phases.on_http_request.findIndex(({ actions }) =>
      actions.some(({ type }) => ACTION_FACTS.get(type)!.login === true),
    );
  }

  /** Runs the rules of the request phase over all ways. */
  request(ways: Ways): void {
    const { model } = this.#place;
    const { analysis, branding } = model;
    const rules = this.document.phases.on_http_request;
    const login = this.#loginRule;
    if (login >= 0) {
      const base = analysis.diagrams.atom(pathPrefix(model, loginBase(branding.service)));
      ways.advance(({ way, reach }) => {
        const detail = analysis.nameOf(
          `${this.#place.text} ${model.surroundings('endpoint cookie', this.#place.pointer)}`,
        );
        ways.end(
          { ...refusedAt(way, 'request', 'login', detail), effects: [...way.effects, SOME_LOGIN] },
          analysis.diagrams.and(reach, base),
        );
        ways.add(way, analysis.diagrams.and(reach, analysis.diagrams.not(base)));
      });
    }
    // On the paths of a login its rule runs first, whatever its expressions say, and perhaps those after it.
    for (const [index, rule] of rules.entries())
      this.#rule(rule, 'on_http_request', ways, login >= 0 && index >= login);
  }

  /** Runs the rules of the response phase, and those on messages, which belong to it. */
  response(ways: Ways): void {
    const { on_http_response: rules, on_event_stream_message: messages } = this.document.phases;
    for (const rule of rules) this.#rule(rule, 'on_http_response', ways, this.#loginRule >= 0);
    ways.unpark();
    if (messages.length === 0) return;
    const effect = this.#effects.ofMessages(messages);
    ways.advance(({ way, reach }) => {
      ways.add(withEffect(way, effect, ['response'], this.#place.model.analysis), reach);
    });
  }

  #rule(rule: Rule, phase: RunPhase, ways: Ways, mayRun: boolean): void {
    const { diagrams } = this.#place.model.analysis;
    const atLeast = mayRun ? diagrams.true : diagrams.false;
    for (const { pointer } of [rule, ...rule.actions]) this.#reached(pointer, atLeast);
    ways.advance(({ way, reach }) => {
      const { whole: condition, written } = this.#conditions.both(rule, phase, way);
      const failed = diagrams.choose(condition, diagrams.false, diagrams.false, reach);
      if (failed !== diagrams.false)
        ways.end(refusedAt(way, side(phase), 'traffic_policy', 'an expression failed'), failed);
      const applies = diagrams.choose(condition, reach, diagrams.false, diagrams.false);
      ways.add(way, diagrams.choose(condition, diagrams.false, reach, diagrams.false));
      const asWritten = diagrams.choose(written, diagrams.true, diagrams.false, diagrams.false);
      const left = diagrams.or(atLeast, diagrams.and(reach, asWritten));
      this.#reached(rule.pointer, applies, { written: diagrams.or(atLeast, asWritten), left, failed });
      if (applies !== diagrams.false) this.#actions(rule, phase, { way, reach: applies }, ways);
    });
  }

  #actions(
    rule: Rule,
    phase: RunPhase,
    start: { readonly way: Way; readonly reach: Diagram<Truth> },
    ways: Ways,
  ): void {
    const { analysis } = this.#place.model;
    const { diagrams } = analysis;
    let { way, reach } = start;
    for (const [index, action] of rule.actions.entries()) {
      this.#reached(action.pointer, reach);
      const facts = ACTION_FACTS.get(action.type)!;
      const when = whenEnds(facts, action.config);
      const effect = this.#effects.of(action, phase, way);
      const how = facts.ends.how[0];
      const stops = this.#stops(action, effect, when, way);
      if (when !== 'never') {
        const stopped = diagrams.and(reach, stops);
        if (how === 'answered') {
          const answered = {
            end: 'answered',
            by: action.type,
            detail: effect.key,
            effects: way.effects,
          } as const;
          const changed = { ...way.changed, response: analysis.nameOf(`answered ${effect.key}`) };
          if (stopped !== diagrams.false) ways.park({ ...way, changed, answered }, stopped);
        } else if (how === 'forwarded') {
          if (stopped !== diagrams.false) ways.park(this.#elsewhere(action, effect, way), stopped);
        } else ways.end(refusedAt(way, side(phase), action.type, this.#stopDetail(action, effect)), stopped);
      }
      reach = diagrams.and(reach, diagrams.not(stops));
      if (when === 'always') return;
      const open = diagrams.and(reach, exempted(this.#place.model, exemptOf(facts, action.config), way));
      if (open !== diagrams.false) {
        const passed = withEffect(way, onExempted(effect), partsChangedBy(action, phase), analysis);
        const others = { ...rule, actions: rule.actions.slice(index + 1) };
        this.#actions(others, phase, { way: passed, reach: open }, ways);
        reach = diagrams.and(reach, diagrams.not(open));
      }
      way = this.#after(action, effect, phase, way);
    }
    ways.add(way, reach);
  }

  /** A way through another endpoint: its response runs through the response phase here, and nothing is known of it. */
  #elsewhere({ type }: Action, effect: Effect, way: Way): Way {
    const { analysis, config } = this.#place.model;
    const backends = Object.keys(config.backends);
    const through = withEffect(way, { ...effect, backends, mayFail: true }, ['*', 'response'], analysis);
    const detail = `${effect.key} ${analysis.nameOf(canonical(config))}`;
    return { ...through, answered: { end: 'forwarded', by: type, detail, effects: through.effects } };
  }

  /** A way behind an action; of exact rewrites it is noted what they make of the path. */
  #after(action: Action, effect: Effect, phase: RunPhase, way: Way): Way {
    const { analysis, config } = this.#place.model;
    const earlier = analysis.images.get(changesOfField('path', way.changed));
    const facts = ACTION_FACTS.get(action.type)!;
    const image =
      phase === 'on_http_request' ? pathImage(facts, action.config, way, config.edges, earlier) : null;
    if (image === null) {
      const after = withEffect(way, effect, partsChangedBy(action, phase), analysis);
      if (phase === 'on_http_request') noteHeaders(facts, action.config, after, analysis);
      return after;
    }
    const made = withEffect(way, effect, [IMAGE, 'left_behind'], analysis);
    const changes = changesOfField('path', made.changed);
    analysis.images.set(changes, image);
    const edits = analysis.edits.get(changesOfField('path', way.changed)) ?? [];
    analysis.edits.set(changes, [...edits, literalEdit(facts, action.config)]);
    return made;
  }

  /** The requests that an action stops. */
  #stops(action: Action, effect: Effect, when: EndsWhen, way: Way): Diagram<Truth> {
    const { analysis } = this.#place.model;
    const { diagrams, atoms } = analysis;
    if (when === 'always') return diagrams.true;
    if (when === 'never') return diagrams.false;
    const allowed = this.#place.model.allowed('action', action.type, action.config);
    if (allowed !== null)
      return diagrams.not(
        diagrams.atom(atoms.address('client address', allowed, `${action.type} at ${action.pointer}`)),
      );
    const stops = diagrams.atom(
      atoms.opaque(`stop of ${effect.key}`, `whether \`${action.type}\` stops the request`),
    );
    const facts = ACTION_FACTS.get(action.type)!;
    return diagrams.or(surelyRedirected(this.#place.model, facts, action.config, way), stops);
  }

  /** An address that is not allowed gets the same response, whatever the ranges are. */
  #stopDetail(action: Action, effect: Effect): string {
    const isByAddress = this.#place.model.allowed('action', action.type, action.config) !== null;
    return isByAddress && whenEnds(ACTION_FACTS.get(action.type)!, action.config) === 'may' ? '' : effect.key;
  }
}

function side(phase: RunPhase): 'request' | 'response' {
  return phase === 'on_http_request' ? 'request' : 'response';
}

/** Reads the policy of a module; null if it has errors. */
export function policyProgram(
  place: PolicyPlace,
  config: TrafficPolicyConfig,
  reached: Reached,
): PolicyProgram | null {
  const document = place.model.policyOf(config, place.pointer);
  return document === null ? null : new PolicyProgram(document, place, reached);
}
