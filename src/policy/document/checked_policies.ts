import { type Steps, atOnce, eachInSteps } from '../../config_file/steps.ts';
import type { Branding } from '../../engine/branding.ts';
import { PHASES } from '../../filters/phase.ts';
import type { TrafficPolicyConfig } from '../module_schema.ts';
import { type CheckedPolicy, checkAttachedPolicy } from './check.ts';
import { type PolicyDocument, type Rule, frozenRule } from './document.ts';
import type { PolicySetting } from './setting.ts';

/** The context that the meaning of a checked policy depends on. */
interface Place {
  /** Pointer of the text. */
  readonly at: string;
  readonly attachedTo: NonNullable<PolicySetting['attachedTo']>;
  readonly service: string;
}

interface Kept {
  readonly place: Place;
  readonly document: PolicyDocument;
}

/** The documents of one policy. */
interface Documents {
  /** Whether they stay for as long as the configuration. */
  isHeld: boolean;
  kept: readonly Kept[];
}

/** Accepted configurations never change, so objects identify their text. */
const documents = new WeakMap<TrafficPolicyConfig, Documents>();

/** Passes the document of a checked policy to its compiler, so that its text is parsed once. */
export function keepDocument(config: TrafficPolicyConfig, place: Place, document: PolicyDocument): void {
  const own = documentsOf(config);
  const others = own.isHeld ? own.kept.filter((each) => !isSamePlace(each.place, place)) : [];
  own.kept = [...others, { place, document }];
}

/**
 * Keeps the documents of a policy in memory for as long as its configuration. It is for programs that compile it
 * several times or read its rules, and soon end.
 */
export function holdDocuments(config: TrafficPolicyConfig): void {
  documentsOf(config).isHeld = true;
}

/**
 * Takes the document of a policy that was checked for the same kind of place; null if there is none. It is returned
 * once, because it keeps the whole text and its tree in memory, unless it is held.
 */
export function* takeDocument(config: TrafficPolicyConfig, place: Place): Steps<PolicyDocument | null> {
  const own = documents.get(config);
  if (own === undefined) return null;
  if (!own.isHeld) documents.delete(config);
  return yield* documentAt(own, place);
}

/** The document of a policy that was checked for the same kind of place, and that no compiler has taken; null otherwise. */
export function documentFor(config: TrafficPolicyConfig, place: Place): PolicyDocument | null {
  const own = documents.get(config);
  return own === undefined ? null : atOnce(documentAt(own, place));
}

/**
 * The document of an accepted policy, which is held from then on. It is only read from the text if no check or reader
 * of this configuration has done so. Null if the text has errors.
 */
export function heldDocument(
  config: TrafficPolicyConfig,
  place: Omit<Place, 'service'> & { readonly branding: Branding },
): PolicyDocument | null {
  holdDocuments(config);
  const { at, attachedTo, branding } = place;
  const known = documentFor(config, { at, attachedTo, service: branding.service });
  return known ?? readAgain(config, place).document;
}

/** Reads a policy that was checked before, and whose document is gone. */
export function readAgain(
  config: TrafficPolicyConfig,
  { at, attachedTo, branding }: Parameters<typeof heldDocument>[1],
): CheckedPolicy {
  const checked = checkAttachedPolicy({ pointer: at, text: config.value }, { branding, attachedTo });
  if (checked.document !== null && documents.get(config)?.isHeld === true)
    keepDocument(config, { at, attachedTo, service: branding.service }, checked.document);
  return checked;
}

function documentsOf(config: TrafficPolicyConfig): Documents {
  let own = documents.get(config);
  if (own === undefined) documents.set(config, (own = { isHeld: false, kept: [] }));
  return own;
}

function* documentAt(own: Documents, place: Place): Steps<PolicyDocument | null> {
  const same = own.kept.find((each) => isSamePlace(each.place, place));
  if (same !== undefined) return same.document;
  const { attachedTo, service } = place;
  const other = own.kept.find(
    (each) => each.place.attachedTo === attachedTo && each.place.service === service,
  );
  if (other === undefined) return null;
  const document = yield* movedDocument(other.document, other.place.at, place.at);
  if (own.isHeld) own.kept = [...own.kept, { place, document }];
  return document;
}

function isSamePlace(one: Place, other: Place): boolean {
  return one.at === other.at && one.attachedTo === other.attachedTo && one.service === other.service;
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
