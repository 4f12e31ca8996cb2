import type { TrafficPolicyConfig } from '../module_schema.ts';
import type { PolicyDocument } from './document.ts';
import type { PolicySetting } from './setting.ts';

/** What the meaning of a checked policy depends on. */
interface Place {
  /** Pointer of the text. */
  readonly at: string;
  readonly carriedBy: NonNullable<PolicySetting['carriedBy']>;
  readonly service: string;
}

/** Accepted configurations never change, so an object stands for its text. */
const documents = new WeakMap<TrafficPolicyConfig, Place & { readonly document: PolicyDocument }>();

/** Hands the document of a checked policy to its compiler, so that its text is read once. */
export function keepDocument(config: TrafficPolicyConfig, place: Place, document: PolicyDocument): void {
  documents.set(config, { ...place, document });
}

/**
 * Takes the document of a policy that was checked for the same place; null if there is none. It is given away once:
 * it holds the whole text with its tree.
 */
export function takeDocument(config: TrafficPolicyConfig, place: Place): PolicyDocument | null {
  const kept = documents.get(config);
  if (kept === undefined) return null;
  documents.delete(config);
  const { document, at, carriedBy, service } = kept;
  return at === place.at && carriedBy === place.carriedBy && service === place.service ? document : null;
}
