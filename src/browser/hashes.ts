/** Hashes and HMAC by @noble/hashes, in the shape of `node:crypto`. */
import { hmac } from '@noble/hashes/hmac.js';
import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { KeyObject } from './key_object.ts';

const HASHES = { md5, sha1, sha256, sha384, sha512 } as const;
export type Hash = (typeof HASHES)[keyof typeof HASHES];

/** Throws for a hash that the engine does not use. */
export function hashNamed(name: string): Hash {
  if (!Object.hasOwn(HASHES, name)) throw new TypeError(`there is no hash ${name} in a page`);
  return HASHES[name as keyof typeof HASHES];
}

interface State {
  readonly update: (bytes: Uint8Array) => unknown;
  readonly digest: () => Uint8Array;
}

class Digesting {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  update(piece: string | Uint8Array, _encoding?: 'utf8'): this {
    this.#state.update(typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece);
    return this;
  }

  digest(): Buffer;
  digest(encoding: BufferEncoding): string;
  digest(encoding?: BufferEncoding): Buffer | string {
    const bytes = Buffer.from(this.#state.digest());
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }
}

export function createHash(name: string): Digesting {
  return new Digesting(hashNamed(name).create());
}

export function hash(name: string, piece: string | Uint8Array, encoding: BufferEncoding): string {
  return createHash(name).update(piece).digest(encoding);
}

export function createHmac(name: string, key: KeyObject | string | Uint8Array): Digesting {
  const bytes = key instanceof KeyObject ? key.secretBytes() : Buffer.from(key as string, 'utf8');
  return new Digesting(hmac.create(hashNamed(name), bytes));
}
