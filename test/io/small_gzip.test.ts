import { spawnSync } from 'node:child_process';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compressed } from '../../src/io/compressor.ts';
import { SMALL_GZIP_BYTES, smallGzip } from '../../src/io/small_gzip.ts';
import { hasProgram } from '../peers.ts';
import { runs, sized } from '../random.ts';

/** Bodies with few or many distinct letters, with runs and with repeated pieces. */
const bodies = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 300 }))
        .map(([piece, times]) => Buffer.concat(Array.from({ length: times }, () => piece))),
      fc
        .constantFrom('{"id":', '"name":"', 'https://example.com/', '<li class="item">')
        .map((text) => Buffer.from(text)),
    ),
    { minLength: 1, maxLength: 60 },
  )
  .map((pieces) => Buffer.concat(pieces).subarray(0, SMALL_GZIP_BYTES));

describe('a small body', () => {
  test('is restored by zlib, whatever was compressed before', () => {
    let packed = 0;
    fc.assert(
      fc.property(bodies, (body) => {
        const small = smallGzip(body);
        if (small === null) return;
        packed++;
        expect(gunzipSync(small).equals(body)).toBe(true);
        if (body.length > 32) expect(small.length).toBeLessThan(body.length);
      }),
      sized(2_000),
    );
    expect(packed).toBeGreaterThan(runs(2_000) / 2);
  });

  test('of each length, and with matches of each length and distance', () => {
    const noise = (length: number): Buffer =>
      Buffer.from(Array.from({ length }, (_, at) => (at * 197 + (at >> 3) * 89) & 0xff));
    for (let length = 0; length <= SMALL_GZIP_BYTES; length++) {
      const body = Buffer.alloc(length, 0x61);
      const small = smallGzip(body);
      if (length > 40) expect(small).not.toBeNull();
      if (small !== null) expect(gunzipSync(small).equals(body)).toBe(true);
    }
    for (let distance = 4; distance < SMALL_GZIP_BYTES - 300; distance += 7) {
      const body = Buffer.concat([noise(distance), noise(distance).subarray(0, 258), Buffer.alloc(30)]);
      const small = smallGzip(body);
      if (small !== null) expect(gunzipSync(small).equals(body)).toBe(true);
    }
  });

  test.skipIf(!hasProgram('gzip', ['--version'], 'small bodies read by gzip'))(
    'is read by gzip itself',
    () => {
      const body = Buffer.from('{"status":"ok"}\n'.repeat(40));
      const found = spawnSync('gzip', ['-dc'], { input: smallGzip(body)! });
      expect([found.status, String(found.stderr), found.stdout.equals(body)]).toEqual([0, '', true]);
    },
  );

  test('that is tiny becomes as short as with zlib', () => {
    for (let length = 0; length <= 32; length++) {
      const body = Buffer.from('{"id":7,"state":"ok","next":null}'.slice(0, length));
      const small = smallGzip(body)!;
      expect(gunzipSync(small).equals(body)).toBe(true);
      expect(small.length).toBeLessThanOrEqual(gzipSync(body, { level: 1 }).length);
    }
  });

  test('that cannot be compressed is left to zlib, which stores it', () => {
    const body = Buffer.from(Array.from({ length: 1_000 }, (_, at) => (at * at * 31 + at * 7) & 0xff));
    const noise = Buffer.concat([body.subarray(0, 64)]);
    expect(smallGzip(noise)).toBeNull();
    expect(gunzipSync(compressed(noise, 'gzip').bytes).equals(noise)).toBe(true);
  });

  test('is at most a third longer than with level 1', () => {
    const text = JSON.stringify(
      Array.from({ length: 14 }, (_, id) => ({ id, name: `user ${id}`, email: `u${id * 31}@example.com` })),
    );
    const body = Buffer.from(text.slice(0, 1_024));
    expect(smallGzip(body)!.length).toBeLessThan((gzipSync(body, { level: 1 }).length * 4) / 3);
  });
});

test('a longer body is compressed by zlib', () => {
  const body = Buffer.from('abcdefgh'.repeat(300));
  expect(body.length).toBeGreaterThan(SMALL_GZIP_BYTES);
  expect(gunzipSync(compressed(body, 'gzip').bytes).equals(body)).toBe(true);
});
