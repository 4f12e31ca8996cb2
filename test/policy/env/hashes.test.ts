import { createHash } from 'node:crypto';
import { crc32 as zlibCrc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc32, crc64, xxhash64 } from '../../../src/policy/env/checksums.ts';
import { evaluate } from './exchange.ts';
import { sized } from '../../random.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const mask = (value: bigint): bigint => BigInt.asUintN(64, value);

/** XXH64 as its specification's steps read, in big integers: slow, and shares nothing with the code under test. */
function slowXxhash64(bytes: Uint8Array): string {
  const rotl = (value: bigint, by: bigint): bigint => mask((value << by) | (value >> (64n - by)));
  const [p1, p2, p3, p4, p5] = [
    0x9e3779b185ebca87n,
    0xc2b2ae3d27d4eb4fn,
    0x165667b19e3779f9n,
    0x85ebca77c2b2ae63n,
    0x27d4eb2f165667c5n,
  ] as const;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const round = (acc: bigint, lane: bigint): bigint => mask(rotl(mask(acc + mask(lane * p2)), 31n) * p1);
  let at = 0;
  let acc: bigint;
  if (bytes.length >= 32) {
    const four = [mask(p1 + p2), p2, 0n, mask(-p1)];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let lane = 0; lane < 4; lane++)
        four[lane] = round(four[lane]!, view.getBigUint64(at + lane * 8, true));
    }
    acc = mask(rotl(four[0]!, 1n) + rotl(four[1]!, 7n) + rotl(four[2]!, 12n) + rotl(four[3]!, 18n));
    for (const one of four) acc = mask((acc ^ round(0n, one)) * p1 + p4);
  } else acc = p5;
  acc = mask(acc + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) {
    acc = mask(rotl(acc ^ round(0n, view.getBigUint64(at, true)), 27n) * p1 + p4);
  }
  if (at + 4 <= bytes.length) {
    acc = mask(rotl(acc ^ mask(BigInt(view.getUint32(at, true)) * p1), 23n) * p2 + p3);
    at += 4;
  }
  for (; at < bytes.length; at++) acc = mask(rotl(acc ^ mask(BigInt(bytes[at]!) * p5), 11n) * p1);
  acc = mask((acc ^ (acc >> 33n)) * p2);
  acc = mask((acc ^ (acc >> 29n)) * p3);
  acc ^= acc >> 32n;
  return acc.toString(16).padStart(16, '0');
}

/** CRC-64 bit by bit. */
function slowCrc64(bytes: Uint8Array): string {
  let crc = (1n << 64n) - 1n;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = (crc >> 1n) ^ (crc & 1n ? 0xd800000000000000n : 0n);
  }
  return (crc ^ ((1n << 64n) - 1n)).toString(16).padStart(16, '0');
}

describe('known answers', () => {
  test.each([
    // xxHash specification and reference implementation, seed 0.
    [xxhash64, '', 'ef46db3751d8e999'],
    [xxhash64, 'a', 'd24ec4f1a98c6e5b'],
    [xxhash64, 'abc', '44bc2cf5ad770999'],
    [xxhash64, 'Nobody inspects the spammish repetition', 'fbcea83c8a378bf1'],
    // Check value of CRC-64/GO-ISO, and the empty message.
    [crc64, '123456789', 'b90956c775a41001'],
    [crc64, '', '0000000000000000'],
    // Check value of CRC-32/ISO-HDLC.
    [crc32, '123456789', 'cbf43926'],
    [crc32, '', '00000000'],
    [crc32, 'The quick brown fox jumps over the lazy dog', '414fa339'],
  ] as const)('%o of %j', (sum, text, expected) => {
    expect(hex(sum(utf8(text)))).toBe(expected);
  });

  test.each([
    // RFC 1321 A.5, RFC 3174 / FIPS 180-4 examples.
    ['md5', 'abc', '900150983cd24fb0d6963f7d28e17f72'],
    ['md5', '', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['sha1', 'abc', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['sha256', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'sha512',
      'abc',
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    ],
  ])('hash.%s of %j', (name, text, expected) => {
    expect(evaluate(`hash.${name}('${text}')`)).toBe(expected);
    expect(evaluate(`'${text}'.${name}()`)).toBe(expected);
    expect(evaluate(`hash.${name}('${text}', 'base64')`)).toBe(
      Buffer.from(expected, 'hex').toString('base64'),
    );
  });

  test('an invalid encoding is refused by the check, and fails if it comes from the request', () => {
    expect(() => evaluate("hash.md5('a', 'base32')")).toThrow("'hex' or 'base64'");
    expect(evaluate("hash.md5('a', req.method)")).toMatchObject({ code: 'expr.invalid_argument' });
    expect(evaluate("hash.md5(req.method, 'base64')")).toBe(createHash('md5').update('GET').digest('base64'));
  });
});

describe('any bytes', () => {
  const anyBytes = fc.uint8Array({ maxLength: 200 });

  test('CRC-32 as zlib has it', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(hex(crc32(bytes))).toBe(zlibCrc32(bytes).toString(16).padStart(8, '0'));
      }),
      sized(2_000, 1),
    );
  });

  test('CRC-64 and xxHash64 as a naive implementation of their definitions', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(hex(crc64(bytes))).toBe(slowCrc64(bytes));
        expect(hex(xxhash64(bytes))).toBe(slowXxhash64(bytes));
      }),
      sized(3_000, 2),
    );
  });

  test('xxHash64 of every length around its stripes, in the middle of a buffer', () => {
    const whole = Uint8Array.from({ length: 200 }, (_, index) => (index * 167 + 13) & 255);
    for (let length = 0; length < 130; length++) {
      const bytes = whole.subarray(3, 3 + length);
      expect(`${length} ${hex(xxhash64(bytes))}`).toBe(`${length} ${slowXxhash64(bytes)}`);
    }
  });
});
