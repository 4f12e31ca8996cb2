import { type SealingKey, newSealingKey, seal, unseal } from '../crypto/sealing.ts';
import { type Store, StoreError } from './store/port.ts';

const SETTING = 'session_keys';

/**
 * The keys for sealing login sessions, stored sealed; created at the first start, so that sessions survive
 * restarts. Throws StoreError if they were sealed with another key.
 */
export function sessionKeysOf(store: Store, key: SealingKey): Promise<readonly string[]> {
  return store.write(async (transaction) => {
    const kept = await transaction.setting(SETTING);
    if (kept !== null) {
      const text = unseal(key, kept, SETTING);
      if (text === null) throw new StoreError('the session keys of the store were sealed with another key');
      return JSON.parse(text) as readonly string[];
    }
    const keys = [newSealingKey()];
    await transaction.set(SETTING, seal(key, JSON.stringify(keys), SETTING));
    return keys;
  });
}
