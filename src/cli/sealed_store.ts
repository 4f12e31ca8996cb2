import { readFileSync, writeFileSync } from 'node:fs';
import { type SealingKey, newSealingKey, readSealingKey, seal, unseal } from '../crypto/sealing.ts';
import { type Store, StoreError } from '../store/port.ts';
import { sealedStore } from '../store/sealed.ts';
import { openSqliteStore } from '../store/sqlite.ts';

/** Opens a store whose secrets are sealed with the key in the file beside it. Throws StoreError. */
export async function openSealedStore(
  storePath: string,
): Promise<{ readonly store: Store; readonly key: SealingKey }> {
  const plain = openSqliteStore(storePath);
  try {
    const key = sealingKeyBeside(storePath);
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

/** The key that secrets are sealed with; made, readable by its owner alone, when it is not there. */
function sealingKeyBeside(storePath: string): SealingKey {
  const path = `${storePath}.key`;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    text = newSealingKey();
    writeFileSync(path, `${text}\n`, { mode: OWNER_ONLY, flag: 'wx' });
  }
  const key = readSealingKey(text);
  if (key === null) throw new StoreError(`${path} does not hold a sealing key`);
  return key;
}
