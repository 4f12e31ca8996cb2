import { readFileSync, writeFileSync } from 'node:fs';
import { ACCOUNT_SETTING } from './api/account.ts';
import { type SealingKey, newSealingKey, readSealingKey, seal, unseal } from '../crypto/sealing.ts';
import { type Store, StoreError } from './store/port.ts';
import { sealedStore } from './store/sealed.ts';
import { openSqliteStore } from './store/sqlite.ts';

/** Opens a store whose secrets are sealed with the key in the file next to it. Throws StoreError. */
export async function openSealedStore(
  storePath: string,
): Promise<{ readonly store: Store; readonly key: SealingKey }> {
  const plain = openSqliteStore(storePath);
  try {
    // A store without an account was never used; its first start may have failed before the key was written.
    const isNew = (await plain.read((view) => view.setting(ACCOUNT_SETTING))) === null;
    const key = sealingKeyBeside(storePath, isNew);
    const store = sealedStore(plain, {
      seal: (text, place) => seal(key, text, place),
      unseal: (text, place) => unseal(key, text, place),
    });
    return { store, key };
  } catch (error) {
    await plain.close();
    throw error;
  }
}

const OWNER_ONLY = 0o600;

/**
 * The sealing key, readable only by its owner. It is created only for new stores: with a new key, existing
 * secrets would silently become unreadable.
 */
function sealingKeyBeside(storePath: string, isNew: boolean): SealingKey {
  const path = `${storePath}.key`;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new StoreError(`cannot read the sealing key: ${(error as Error).message}`, { cause: error });
    }
    if (!isNew) {
      const message = `${path} is missing: it contains the key for the secrets of ${storePath}`;
      throw new StoreError(`${message}; restore it from a backup, or start with a new store`);
    }
    text = newSealingKey();
    writeFileSync(path, `${text}\n`, { mode: OWNER_ONLY, flag: 'wx' });
  }
  const key = readSealingKey(text);
  if (key === null) throw new StoreError(`${path} does not contain a sealing key`);
  return key;
}
