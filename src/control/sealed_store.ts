import { failureText } from '../diagnostics/system_failure.ts';
import { readFileSync, writeFileSync, renameSync } from 'node:fs';
import { ACCOUNT_SETTING } from './api/account.ts';
import { type SealingKey, newSealingKey, readSealingKey, seal, unseal } from '../crypto/sealing.ts';
import { OWNER_ONLY } from './store/own_file.ts';
import { type Store, StoreError } from './store/port.ts';
import { sealedStore } from './store/sealed.ts';
import { type StoreLimits, openSqliteStore } from './store/sqlite.ts';
import { type SigningIdentity, newSigningIdentity } from '../crypto/issue_certificate.ts';

/** The file of the key that seals the secrets of a store. */
export const keyFileOf = (storePath: string): string => `${storePath}.key`;
/** The file of the key pairs that sign SAML requests, sealed with that key. */
export const samlFileOf = (storePath: string): string => `${storePath}.saml`;

/** Opens a store whose secrets are sealed with the key in the file next to it. Throws StoreError. */
export async function openSealedStore(
  storePath: string,
  limits: StoreLimits = {},
): Promise<{ readonly store: Store; readonly key: SealingKey }> {
  const plain = openSqliteStore(storePath, { ...limits, isServing: true });
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

/**
 * The sealing key, readable only by its owner. It is created only for new stores: with a new key, existing
 * secrets would silently become unreadable.
 */
function sealingKeyBeside(storePath: string, isNew: boolean): SealingKey {
  const path = keyFileOf(storePath);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new StoreError(`cannot read the sealing key: ${failureText(error)}`, { cause: error });
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

const PLACE = 'saml keys';

/** The key pair of a route, created on first use and then stable. */
export type KeptSamlKeys = (route: string) => SigningIdentity;

/**
 * Key pairs for signing SAML requests, sealed in a file next to the store. They survive restarts, because
 * identity providers know their certificates. Throws StoreError if the file exists and cannot be opened.
 */
export function samlKeysBeside(storePath: string, key: SealingKey, nowMs: () => number): KeptSamlKeys {
  const path = samlFileOf(storePath);
  const kept = readKept(path, key);
  return (route) => {
    const known = kept.get(route);
    if (known !== undefined) return known;
    const identity = newSigningIdentity(route, nowMs());
    kept.set(route, identity);
    const sealed = seal(key, JSON.stringify([...kept]), PLACE);
    // Written to a temporary file and renamed, so that a crash leaves either the old or the new file.
    writeFileSync(`${path}.new`, `${sealed}\n`, { mode: OWNER_ONLY });
    renameSync(`${path}.new`, path);
    return identity;
  };
}

function readKept(path: string, key: SealingKey): Map<string, SigningIdentity> {
  let sealed: string;
  try {
    sealed = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw new StoreError(`${path} cannot be read: ${failureText(error)}`);
  }
  const text = unseal(key, sealed, PLACE);
  if (text === null) throw new StoreError(`${path} was sealed with another key`);
  return new Map(JSON.parse(text) as [string, SigningIdentity][]);
}
