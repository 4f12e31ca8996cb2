import { isEnforced } from '../filters/gates.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import type { Action, PolicyDocument, Rule } from '../policy/document/document.ts';
import { canonical } from './model.ts';
import { type Effect, type Passage, type Way, changesOf } from './outcome.ts';
import type { PolicyPlace, RunPhase } from './rule_conditions.ts';

/** What the actions of a policy do; effects with equal keys do the same to equal requests. */
export class ActionEffects {
  readonly #place: PolicyPlace;
  /** Names of what actions count, by their pointers. */
  readonly #states: ReadonlyMap<string, string>;

  constructor(document: PolicyDocument, place: PolicyPlace) {
    this.#place = place;
    this.#states = statesOf(document, place);
  }

  /** What an action does to a request that comes along a way. */
  of({ type, config, pointer }: Action, phase: RunPhase, way: Way): Effect {
    const whole = `${phase} ${type} ${canonical(config)}${this.#states.get(pointer) ?? ''}`;
    const cannotFail = isFixed(type, config);
    // What a template or another action reads depends on what was changed before.
    return this.#effect(
      type,
      cannotFail ? whole : `${whole} after ${changesOf(way.changed)}`,
      phase === 'on_http_response'
        ? 'later'
        : isEnforced(ACTION_FACTS.get(type)!, config)
          ? 'passed'
          : 'reports',
      cannotFail,
    );
  }

  /** What the rules on messages do, as a whole. */
  ofMessages(rules: readonly Rule[]): Effect {
    const key = `messages ${canonical(rules.map(({ expressions, actions }) => [expressions.map(({ text }) => text), actions.map(({ type, config }) => [type, config])]))}`;
    return this.#effect('messages', key, 'later');
  }

  #effect(type: string, text: string, passage: Passage, cannotFail = false): Effect {
    const { model, pointer } = this.#place;
    const facts = ACTION_FACTS.get(type);
    const key = model.analysis.nameOf(`${text}${model.surroundings(text, pointer)}`);
    return {
      type,
      key,
      isUpstreamOnly: passage !== 'later' && facts?.changes !== undefined,
      isLogin: facts?.login === true,
      passage,
      mayFail: !cannotFail,
      backends: [],
    };
  }
}

/**
 * What tells apart the actions of a policy that count requests: each has a count of its own. So if two configurations
 * send each request to actions of the same names, the counts are the same, too.
 */
function statesOf({ phases }: PolicyDocument, { model, pointer }: PolicyPlace): ReadonlyMap<string, string> {
  const route = pointer.slice(0, pointer.lastIndexOf('/'));
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  for (const action of Object.values(phases).flatMap((rules) => rules.flatMap(({ actions }) => actions))) {
    if (ACTION_FACTS.get(action.type)!.remembersMs === undefined) continue;
    const own = `${action.type} ${canonical(action.config)}`;
    const number = (counts.get(own) ?? 0) + 1;
    counts.set(own, number);
    names.set(action.pointer, ` number ${number} of ${model.routeName(route)}`);
  }
  return names;
}

/** Whether an action does the same to all exchanges, and cannot fail. */
function isFixed(type: string, config: object): boolean {
  const facts = ACTION_FACTS.get(type);
  const speaks = facts?.speaksOnly === true || facts?.onlyLogs === true || facts?.removes !== undefined;
  // A `Host` that is not a host name is a failure.
  const setsHost = facts?.changes?.(config as never).includes('headers') === true;
  return speaks && !setsHost && !canonical(config).includes('${');
}
