/** The part of `node:buffer` that the engine uses: npm's `buffer`, which lacks base64url. */
import { Buffer } from 'buffer/index.js';

type Call = (...given: unknown[]) => unknown;

const { from: given } = Buffer as unknown as { readonly from: Call };
const { toString: written } = Buffer.prototype as unknown as { readonly toString: Call };
const from = (...values: unknown[]): Buffer => Reflect.apply(given, Buffer, values) as Buffer;
const textOf = (buffer: Buffer, ...values: unknown[]): string =>
  Reflect.apply(written, buffer, values) as string;

Buffer.from = ((value: unknown, encoding?: unknown, ...rest: unknown[]) =>
  typeof value === 'string' && encoding === 'base64url'
    ? from(value.replaceAll('-', '+').replaceAll('_', '/'), 'base64')
    : from(value, encoding, ...rest)) as typeof Buffer.from;

Buffer.prototype.toString = function text(this: Buffer, encoding?: string, ...rest: unknown[]): string {
  if (encoding !== 'base64url') return textOf(this, encoding, ...rest);
  return textOf(this, 'base64', ...rest)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
};

export { Buffer };

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
