import type { Provider } from './provider.ts';
import { OTHER } from './providers/other.ts';
import { OVER_BODY } from './providers/over_body.ts';
import { TIMESTAMPED } from './providers/timestamped.ts';

/** Every provider, in order of id. */
export const PROVIDERS: readonly Provider[] = [...OVER_BODY, ...TIMESTAMPED, ...OTHER].toSorted(
  (one, other) => (one.id < other.id ? -1 : 1),
);

/** Ids of all providers, in order: those of the service and our additions. */
export const PROVIDER_IDS: readonly string[] = PROVIDERS.map(({ id }) => id);

const BY_ID = new Map(PROVIDERS.map((provider) => [provider.id, provider]));

/** The provider of that id, in any letter case, or undefined. */
export function findProvider(id: string): Provider | undefined {
  return BY_ID.get(id.toLowerCase());
}
