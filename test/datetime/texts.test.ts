import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSeconds, writeDay, writeInstant, writeSeconds } from '../../src/datetime/texts.ts';
import { sized } from '../random.ts';

const SIZED = sized(2_000, 1582);

/** Years of four digits: from 0000-01-01 to the last moment of 9999. */
const ANY_MS = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });

test('moments are written as Date writes them', () => {
  fc.assert(
    fc.property(ANY_MS, (atMs) => {
      const text = new Date(atMs).toISOString();
      expect(writeInstant(atMs)).toBe(text);
      expect(writeDay(atMs)).toBe(text.slice(0, 10));
      expect(writeSeconds(Math.floor(atMs / 1_000))).toBe(text.slice(0, 19));
      expect(readSeconds(text.match(/\d+/g)!.slice(0, 6))).toBe(Math.floor(atMs / 1_000));
    }),
    SIZED,
  );
});

test.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [-62_167_219_200_000, '0000-01-01T00:00:00.000Z'],
  [253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
  [1_709_164_800_000, '2024-02-29T00:00:00.000Z'],
])('%i is %s', (atMs, text) => expect(writeInstant(atMs)).toBe(text));

test.each([
  [1.999, '1970-01-01T00:00:00.001Z'],
  [-0.001, '1969-12-31T23:59:59.999Z'],
])('what is finer than a millisecond is cut off, never rounded up: %d', (atMs, text) => {
  expect(writeInstant(atMs)).toBe(text);
});

test.each([
  '2026-00-01 00:00:00',
  '2026-13-01 00:00:00',
  '2026-01-00 00:00:00',
  '2026-02-29 00:00:00',
  '2100-02-29 00:00:00',
  '2026-04-31 00:00:00',
  '2026-01-01 24:00:00',
  '2026-01-01 00:60:00',
  '2016-12-31 23:59:60',
])('%s does not exist', (text) => expect(readSeconds(text.split(/\D/))).toBeNull());
