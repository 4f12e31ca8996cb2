import { newSealingKey } from '../crypto/sealing.ts';
import { ACCOUNT_SETTING } from './api/account.ts';
import { type SealingKeys, type SealingOptions, sealingKeys } from './sealing_keys.ts';
import { type Store, StoreError, type Transaction, type View } from './store/port.ts';
import { type PostgresOptions, isPostgres, openPostgresStore } from './store/postgres.ts';
import { type Sealing, sealedStore } from './store/sealed.ts';
import { type StoreLimits, openSqliteStore } from './store/sqlite.ts';

/** How a store with secrets is opened. */
export interface SealedStoreOptions {
  readonly limits?: StoreLimits & PostgresOptions;
  readonly sealing?: SealingOptions;
}

/**
 * Opens the store that this instance serves, in a file or in PostgreSQL (`postgres://…`). Its secrets are sealed.
 * Throws StoreError.
 */
export async function openSealedStore(
  place: string,
  { limits = {}, sealing: options = {} }: SealedStoreOptions = {},
): Promise<{ readonly store: Store; readonly sealing: SealingKeys }> {
  const plain = isPostgres(place)
    ? await openPostgresStore(place, limits)
    : openSqliteStore(place, { ...limits, isServing: true });
  try {
    // A store without an account was never used; its first start may have failed before the key was written.
    const isNew = (await plain.read((view) => view.setting(ACCOUNT_SETTING))) === null;
    const sealing = await sealingKeys(place, isNew, options);
    return { store: sealedStore(plain, sealing), sealing };
  } catch (error) {
    await plain.close();
    throw error;
  }
}

/** The setting with the keys that seal login sessions. */
export const SESSION_KEYS = 'session_keys';

/**
 * The keys for sealing login sessions, stored sealed; created at the first start, so that sessions survive
 * restarts. Throws StoreError if they were sealed with another key.
 */
export async function sessionKeysOf(store: Store, sealing: Sealing): Promise<readonly string[]> {
  const before = await store.read((view) => openSessionKeys(view, sealing));
  if (before.length > 0) return before;
  return store.write(async (transaction) => {
    const kept = await openSessionKeys(transaction, sealing);
    if (kept.length > 0) return kept;
    const keys = [newSealingKey()];
    await keepSessionKeys(transaction, sealing, keys);
    return keys;
  });
}

/** The stored keys; none before the first start. Throws StoreError if they were sealed with another key. */
export async function openSessionKeys(view: View, sealing: Sealing): Promise<readonly string[]> {
  const kept = await view.setting(SESSION_KEYS);
  if (kept === null) return [];
  const text = sealing.unseal(kept, SESSION_KEYS);
  if (text === null) throw new StoreError('the session keys of the store were sealed with another key');
  return JSON.parse(text) as readonly string[];
}

/** Sessions whose key is older than the last of these have to log in again. */
export const MOST_SESSION_KEYS = 5;

/**
 * Seals new sessions with a new key. Earlier keys still open sessions, up to `MOST_SESSION_KEYS` in all, unless
 * `endsSessions`. Resolves with the number of keys. Throws StoreError if they were sealed with another key.
 */
export function rotateSessionKeys(store: Store, sealing: Sealing, endsSessions: boolean): Promise<number> {
  return store.write(async (transaction) => {
    const earlier = await openSessionKeys(transaction, sealing);
    const keys = [newSealingKey(), ...(endsSessions ? [] : earlier)].slice(0, MOST_SESSION_KEYS);
    await keepSessionKeys(transaction, sealing, keys);
    return keys.length;
  });
}

function keepSessionKeys(transaction: Transaction, sealing: Sealing, keys: readonly string[]): Promise<void> {
  return transaction.set(SESSION_KEYS, sealing.seal(JSON.stringify(keys), SESSION_KEYS));
}
