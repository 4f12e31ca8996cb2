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

interface NamedKey {
  /** Stands before what was sealed with it, so that rotation costs no trial. */
  readonly id: string;
  readonly key: SealingKey;
}

/** Keys that sessions and pending logins are sealed with: the first seals, all of them open. */
export interface LoginKeys {
  readonly keys: readonly [NamedKey, ...NamedKey[]];
}

const KEY_ID_UNITS = 6;

/** Makes keys for one process: sessions end when it does. */
export function newLoginKeys(): LoginKeys {
  return readLoginKeys([newSealingKey()])!;
}

/** Reads keys (32 bytes in base64 each), the one that seals first; null when there is none or one is none. */
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

/** Bytes that nobody can guess: those of the front end, else the system's. */
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

/** Opens what was sealed for the same place with any of the keys; null otherwise. */
export function openFor({ keys }: LoginKeys, sealed: string, place: string): string | null {
  const dot = sealed.indexOf('.');
  if (dot !== KEY_ID_UNITS) return null;
  const id = sealed.slice(0, dot);
  for (const each of keys) if (each.id === id) return unsealCompact(each.key, sealed.slice(dot + 1), place);
  return null;
}
