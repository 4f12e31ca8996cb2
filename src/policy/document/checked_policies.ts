import type { TrafficPolicyConfig } from '../module_schema.ts';
import type { PolicyDocument } from './document.ts';
import type { PolicySetting } from './setting.ts';

/** The context that the meaning of a checked policy depends on. */
interface Place {
  /** Pointer of the text. */
  readonly at: string;
  readonly carriedBy: NonNullable<PolicySetting['carriedBy']>;
  readonly service: string;
}

/** Accepted configurations never change, so objects identify their text. */
const documents = new WeakMap<TrafficPolicyConfig, Place & { readonly document: PolicyDocument }>();

/** Passes the document of a checked policy to its compiler, so that its text is parsed once. */
export function keepDocument(config: TrafficPolicyConfig, place: Place, document: PolicyDocument): void {
  documents.set(config, { ...place, document });
}

/**
 * Takes the document of a policy that was checked for the same place; null if there is none. It is returned once,
 * because it keeps the whole text and its tree in memory.
 */
export function takeDocument(config: TrafficPolicyConfig, place: Place): PolicyDocument | null {
  const kept = documents.get(config);
  if (kept === undefined) return null;
  documents.delete(config);
  const { document, at, carriedBy, service } = kept;
  return at === place.at && carriedBy === place.carriedBy && service === place.service ? document : null;
}
