import { digest } from '../crypto/digest.ts';
import {
  SEALING_NONCE_BYTES,
  type SealingKey,
  newSealingKey,
  readSealingKey,
  sealCompact,
  unsealCompact,
} from '../crypto/sealing.ts';
import { secretBytes } from '../crypto/random.ts';
import type { World } from '../engine/contract.ts';
import { type SigningIdentity, newSigningIdentity } from '../crypto/issue_certificate.ts';

interface NamedKey {
  /** Prefix of sealed values, so that the right key is found without trying all of them. */
  readonly id: string;
  readonly key: SealingKey;
}

/** Keys that seal sessions and pending logins: the first one seals, all of them open. */
export interface LoginKeys {
  readonly keys: readonly [NamedKey, ...NamedKey[]];
}

const KEY_ID_UNITS = 6;

/** Creates random keys; sessions end with the process. */
export function newLoginKeys(): LoginKeys {
  return readLoginKeys([newSealingKey()])!;
}

/**
 * Parses keys (32 bytes in base64 each; the first one seals); null if the list is empty or a key is invalid.
 */
export function readLoginKeys(texts: readonly string[]): LoginKeys | null {
  const keys = texts.map((text) => {
    const key = readSealingKey(text);
    return key === null ? null : { id: keyId(text), key };
  });
  const [first, ...rest] = keys;
  if (first === undefined || first === null || !rest.every((key) => key !== null)) return null;
  return { keys: [first, ...rest] };
}

function keyId(text: string): string {
  const hash = digest('sha256', ['login key id', Buffer.from(text.trim(), 'base64')], 'base64');
  return hash.replaceAll(/[+/=]/g, '').slice(0, KEY_ID_UNITS);
}

/** Random bytes of the driver, or of the system if the driver provides none. */
function bytesOf(world: World, count: number): Uint8Array {
  return world.secretBytes === undefined ? secretBytes(count) : world.secretBytes(count);
}

/** A secret of `count` bytes as base64url. */
export function secretOf(world: World, count: number): string {
  return Buffer.from(bytesOf(world, count)).toString('base64url');
}

/** Seals a text for one place, as `<key id>.<base64url>`. */
export function sealFor(
  { keys: [{ id, key }] }: LoginKeys,
  text: string,
  place: string,
  world: World,
): string {
  return `${id}.${sealCompact(key, text, place, bytesOf(world, SEALING_NONCE_BYTES))}`;
}

/** Opens a text that was sealed for this place with any of the keys; null if that fails. */
export function openFor({ keys }: LoginKeys, sealed: string, place: string): string | null {
  const dot = sealed.indexOf('.');
  if (dot !== KEY_ID_UNITS) return null;
  const id = sealed.slice(0, dot);
  for (const each of keys) if (each.id === id) return unsealCompact(each.key, sealed.slice(dot + 1), place);
  return null;
}

/** The key pair of a gate, by its name; stable for a gate. */
export type SamlKeys = (gate: string, nowMs: number) => SigningIdentity;

/** Stored keys take precedence; others are created on first use and live as long as the process. */
export function samlKeys(kept: (gate: string) => SigningIdentity | null = () => null): SamlKeys {
  const made = new Map<string, SigningIdentity>();
  return (gate, nowMs) => {
    const known = kept(gate) ?? made.get(gate);
    if (known !== undefined) return known;
    const identity = newSigningIdentity(gate, nowMs);
    made.set(gate, identity);
    return identity;
  };
}
