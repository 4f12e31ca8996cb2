/** AES-256-GCM in the shape of `createCipheriv` and `createDecipheriv` of `node:crypto`, for texts in one piece. */
import { gcm } from '@noble/ciphers/aes.js';
import type { KeyObject } from './key_object.ts';

const TAG_BYTES = 16;

class Cipher {
  readonly #key: KeyObject;
  readonly #nonce: Uint8Array;
  #aad = new Uint8Array();
  #tag: Uint8Array = new Uint8Array();
  #input: Uint8Array = new Uint8Array();
  readonly #opens: boolean;

  constructor(key: KeyObject, nonce: Uint8Array, opens: boolean) {
    this.#key = key;
    this.#nonce = nonce;
    this.#opens = opens;
  }

  setAAD(bytes: Uint8Array): this {
    this.#aad = Uint8Array.from(bytes);
    return this;
  }

  setAuthTag(tag: Uint8Array): this {
    this.#tag = tag;
    return this;
  }

  getAuthTag(): Buffer {
    return Buffer.from(this.#tag);
  }

  /** Keeps the piece; `final` gives all of the result. */
  update(piece: string | Uint8Array, _encoding?: 'utf8'): Buffer {
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece;
    this.#input = Buffer.concat([this.#input, bytes]);
    return Buffer.alloc(0);
  }

  final(): Buffer {
    const cipher = gcm(this.#key.secretBytes(), this.#nonce, this.#aad);
    if (this.#opens) return Buffer.from(cipher.decrypt(Buffer.concat([this.#input, this.#tag])));
    const sealed = cipher.encrypt(this.#input);
    this.#tag = sealed.subarray(-TAG_BYTES);
    return Buffer.from(sealed.subarray(0, -TAG_BYTES));
  }
}

export function createCipheriv(_name: 'aes-256-gcm', key: KeyObject, nonce: Uint8Array): Cipher {
  return new Cipher(key, nonce, false);
}

export function createDecipheriv(_name: 'aes-256-gcm', key: KeyObject, nonce: Uint8Array): Cipher {
  return new Cipher(key, nonce, true);
}
