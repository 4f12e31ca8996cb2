import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type SealingKey, seal, unseal } from '../crypto/sealing.ts';
import { type SigningIdentity, newSigningIdentity } from '../crypto/issue_certificate.ts';
import { StoreError } from './store/port.ts';

const OWNER_ONLY = 0o600;
const PLACE = 'saml keys';

/** The key pair of a route, created on first use and then stable. */
export type KeptSamlKeys = (route: string) => SigningIdentity;

/**
 * Key pairs for signing SAML requests, sealed in a file next to the store. They survive restarts, because
 * identity providers know their certificates. Throws StoreError if the file exists and cannot be opened.
 */
export function samlKeysBeside(storePath: string, key: SealingKey, nowMs: () => number): KeptSamlKeys {
  const path = `${storePath}.saml`;
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
    throw new StoreError(`${path} cannot be read: ${(error as Error).message}`);
  }
  const text = unseal(key, sealed, PLACE);
  if (text === null) throw new StoreError(`${path} was sealed with another key`);
  return new Map(JSON.parse(text) as [string, SigningIdentity][]);
}
