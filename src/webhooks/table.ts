import type { Provider } from './provider.ts';
import { OTHER } from './providers/other.ts';
import { OVER_BODY } from './providers/over_body.ts';
import { TIMESTAMPED } from './providers/timestamped.ts';

/** All providers, sorted by id. */
export const PROVIDERS: readonly Provider[] = [...OVER_BODY, ...TIMESTAMPED, ...OTHER].toSorted(
  (one, other) => (one.id < other.id ? -1 : 1),
);

/** Ids of all providers, sorted, including additions of this project. */
export const PROVIDER_IDS: readonly string[] = PROVIDERS.map(({ id }) => id);

const BY_ID = new Map(PROVIDERS.map((provider) => [provider.id, provider]));

/** The provider with this id (case-insensitive), or undefined. */
export function findProvider(id: string): Provider | undefined {
  return BY_ID.get(id.toLowerCase());
}
