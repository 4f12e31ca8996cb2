import { type Steps, atOnce, eachInSteps } from '../../config_file/steps.ts';
import { PHASES } from '../../filters/phase.ts';
import type { TrafficPolicyConfig } from '../module_schema.ts';
import { type PolicyDocument, type Rule, frozenRule } from './document.ts';
import type { PolicySetting } from './setting.ts';

/** The context that the meaning of a checked policy depends on. */
interface Place {
  /** Pointer of the text. */
  readonly at: string;
  readonly attachedTo: NonNullable<PolicySetting['attachedTo']>;
  readonly service: string;
}

interface Kept extends Place {
  readonly document: PolicyDocument;
}

/** Accepted configurations never change, so objects identify their text. */
const documents = new WeakMap<TrafficPolicyConfig, Kept>();

/** Passes the document of a checked policy to its compiler, so that its text is parsed once. */
export function keepDocument(config: TrafficPolicyConfig, place: Place, document: PolicyDocument): void {
  documents.set(config, { ...place, document });
}

/**
 * Takes the document of a policy that was checked for the same kind of place; null if there is none. It is returned
 * once, because it keeps the whole text and its tree in memory.
 */
export function* takeDocument(config: TrafficPolicyConfig, place: Place): Steps<PolicyDocument | null> {
  const kept = documents.get(config);
  documents.delete(config);
  return kept === undefined ? null : yield* documentAt(kept, place);
}

/** The document of a policy that was checked for the same kind of place, and that no compiler has taken; null otherwise. */
export function documentFor(config: TrafficPolicyConfig, place: Place): PolicyDocument | null {
  const kept = documents.get(config);
  return kept === undefined ? null : atOnce(documentAt(kept, place));
}

function* documentAt(
  { document, at, attachedTo, service }: Kept,
  place: Place,
): Steps<PolicyDocument | null> {
  if (attachedTo !== place.attachedTo || service !== place.service) return null;
  return at === place.at ? document : yield* movedDocument(document, at, place.at);
}

/** The document with pointers that begin with another one: a route may have its position there, or its id. */
export function* movedDocument(document: PolicyDocument, from: string, to: string): Steps<PolicyDocument> {
  const there = <Located extends { readonly pointer: string }>(each: Located): Located => ({
    ...each,
    pointer: to + each.pointer.slice(from.length),
  });
  const rule = (each: Rule): Rule => ({
    ...there(each),
    expressions: each.expressions.map(there),
    actions: each.actions.map(there),
  });
  const phases = { ...document.phases };
  for (const phase of PHASES) {
    const moved: Rule[] = [];
    yield* eachInSteps(document.phases[phase], (each) => moved.push(frozenRule(rule(each))));
    phases[phase] = Object.freeze(moved);
  }
  return Object.freeze({
    ...document,
    phases: Object.freeze(phases),
    placeOf: (pointer: string, text?: string) => document.placeOf(from + pointer.slice(to.length), text),
  });
}
