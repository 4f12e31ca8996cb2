import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretFraction, secretText } from '../../src/crypto/random.ts';
import { newSealingKey, readSealingKey, seal, unseal } from '../../src/crypto/sealing.ts';
import { sized } from '../random.ts';

const key = readSealingKey(newSealingKey())!;

describe('a sealed text', () => {
  it('opens only at its place with its key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, place) => {
        const sealed = seal(key, text, place);
        expect(unseal(key, sealed, place)).toBe(text);
        expect(unseal(key, sealed, `${place}x`)).toBeNull();
        expect(unseal(readSealingKey(newSealingKey())!, sealed, place)).toBeNull();
      }),
      sized(200, 6),
    );
  });

  it('does not open if it is changed or truncated', () => {
    const bytes = Buffer.from(seal(key, 'sesame', 'secret_1'), 'base64');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(unseal(key, changed.toString('base64'), 'secret_1')).toBeNull();
      expect(unseal(key, bytes.subarray(0, at).toString('base64'), 'secret_1')).toBeNull();
    }
  });

  it('differs each time', () => {
    expect(seal(key, 'sesame', 'a')).not.toBe(seal(key, 'sesame', 'a'));
  });
});

it('a key has 32 bytes', () => {
  expect(readSealingKey('c2hvcnQ=')).toBeNull();
});

it('secrets consist of evenly distributed letters and digits', () => {
  const counts = new Map<string, number>();
  for (const letter of secretText(36_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect(counts.size).toBe(36);
  // Six standard deviations of a fair draw: it fails once in 10^7 runs.
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(190);
  const fraction = secretFraction();
  expect(fraction >= 0 && fraction < 1).toBe(true);
});
