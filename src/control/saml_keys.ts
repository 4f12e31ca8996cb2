import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type SigningIdentity, newSigningIdentity } from '../crypto/issue_certificate.ts';
import { OWNER_ONLY } from './store/own_file.ts';
import { type Store, StoreError, type Transaction, type View } from './store/port.ts';
import type { Sealing } from './store/sealed.ts';

/** The file of the key pairs that sign SAML requests, sealed, beside a store in a file. */
export const samlFileOf = (storePath: string): string => `${storePath}.saml`;
/** The setting of a store that nodes share, with the same content. */
export const SAML_SETTING = 'saml_keys';

const PLACE = 'saml keys';

/** The key pair of a route, created on first use and then stable. */
export type KeptSamlKeys = (route: string) => SigningIdentity;

/**
 * Key pairs for signing SAML requests, sealed in a file next to the store. They survive restarts, because
 * identity providers know their certificates. Throws StoreError if the file exists and cannot be opened.
 */
export function samlKeysBeside(storePath: string, sealing: Sealing, nowMs: () => number): KeptSamlKeys {
  const path = samlFileOf(storePath);
  const kept = opened(readSamlFile(storePath), sealing, path);
  return (route) => {
    const known = kept.get(route);
    if (known !== undefined) return known;
    const identity = newSigningIdentity(route, nowMs());
    kept.set(route, identity);
    writeSamlFile(storePath, sealing.seal(JSON.stringify([...kept]), PLACE));
    return identity;
  };
}

/** Written to a temporary file and renamed, so that a crash leaves either the old or the new file. */
export function writeSamlFile(storePath: string, sealed: string): void {
  const path = samlFileOf(storePath);
  writeFileSync(`${path}.new`, `${sealed}\n`, { mode: OWNER_ONLY });
  renameSync(`${path}.new`, path);
}

/** The sealed key pairs beside a store; null if there are none. Throws StoreError. */
export function readSamlFile(storePath: string): string | null {
  const path = samlFileOf(storePath);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StoreError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Key pairs in the store itself, for nodes that share it. */
export interface StoredSamlKeys {
  readonly of: KeptSamlKeys;
  /** Stores new key pairs with the write that made them. */
  readonly keep: (transaction: Transaction) => Promise<void>;
  /** Takes over what another node has stored. */
  readonly follow: (view: View) => Promise<void>;
}

/**
 * Key pairs for signing SAML requests, in the store. Two nodes may make one for the same route: that which is stored
 * first stays.
 */
export async function samlKeysIn(
  store: Store,
  sealing: Sealing,
  nowMs: () => number,
): Promise<StoredSamlKeys> {
  const read = async (view: View): Promise<Map<string, SigningIdentity>> =>
    opened(await view.setting(SAML_SETTING), sealing, 'the setting of the SAML keys');
  let kept = await store.read(read);
  /** Not stored yet. */
  const added = new Map<string, SigningIdentity>();
  const keep = async (transaction: Transaction): Promise<void> => {
    if (added.size === 0) return;
    const both = new Map([...added, ...(await read(transaction))]);
    await transaction.set(SAML_SETTING, sealing.seal(JSON.stringify([...both]), PLACE));
    const before = { kept, added: new Map(added) };
    transaction.undone(() => {
      kept = before.kept;
      for (const [route, identity] of before.added) added.set(route, identity);
    });
    kept = both;
    added.clear();
  };
  return {
    of: (route) => {
      const known = kept.get(route) ?? added.get(route);
      if (known !== undefined) return known;
      const identity = newSigningIdentity(route, nowMs());
      added.set(route, identity);
      // A write of the route itself stores it before; a failure is made good by the next one.
      store.write(keep).catch(() => undefined);
      return identity;
    },
    keep,
    follow: async (view) => {
      kept = await read(view);
      for (const route of kept.keys()) added.delete(route);
    },
  };
}

function opened(sealed: string | null, sealing: Sealing, what: string): Map<string, SigningIdentity> {
  if (sealed === null) return new Map();
  const text = sealing.unseal(sealed, PLACE);
  if (text === null) throw new StoreError(`${what} was sealed with another key`);
  return new Map(JSON.parse(text) as [string, SigningIdentity][]);
}
