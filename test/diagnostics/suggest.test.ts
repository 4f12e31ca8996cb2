import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, suggest } from '../../src/diagnostics/suggest.ts';
import { sized } from '../random.ts';

describe('suggest', () => {
  const keys = ['match_type', 'match', 'backend', 'ip_restriction', 'circuit_breaker'];

  test.each([
    ['bakend', 'backend'],
    ['backedn', 'backend'],
    ['Backend', 'backend'],
    ['match-type', 'match_type'],
    ['ip_restrictions', 'ip_restriction'],
    ['circuitbreaker', 'circuit_breaker'],
    ['mach', 'match'],
    ['breaker', 'circuit_breaker'],
  ])('%s means %s', (word, meant) => {
    expect(suggest(word, keys)).toBe(meant);
  });

  test.each(['compression', 'x', '', 'tls', 'a'.repeat(1000)])('%s has no suggestion', (word) => {
    expect(suggest(word, keys)).toBeUndefined();
  });

  test('one letter never becomes another', () => {
    expect(suggest('a', ['b'])).toBeUndefined();
    expect(suggest('A', ['a'])).toBe('a');
  });

  test('the nearest wins, and of equals the first', () => {
    expect(suggest('shop', ['shops', 'shoe', 'show'])).toBe('shops');
    expect(suggest('denny', ['penny', 'deny'])).toBe('penny');
    expect(suggest('allow', ['allow'])).toBeUndefined();
  });
});

describe('editDistance', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });

  test('counts single edits', () => {
    expect(editDistance('ca', 'ac')).toBe(1);
    expect(editDistance('', 'abc')).toBe(3);
    fc.assert(
      fc.property(words, words, (one, other) => {
        const distance = editDistance(one, other);
        expect(distance).toBe(editDistance(other, one));
        expect(distance === 0).toBe(one === other);
        expect(distance).toBeLessThanOrEqual(Math.max(one.length, other.length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(one.length - other.length));
      }),
      sized(2000, 3),
    );
  });

  test('of words that are too far apart, it is only known that they are', () => {
    fc.assert(
      fc.property(words, words, fc.nat(6), (one, other, most) => {
        const distance = editDistance(one, other);
        const bounded = editDistance(one, other, most);
        if (distance <= most) expect(bounded).toBe(distance);
        else expect(bounded).toBeGreaterThan(most);
      }),
      sized(2000, 3),
    );
  });

  test('one edit is at most one away', () => {
    fc.assert(
      fc.property(words, fc.nat(6), (word, at) => {
        const cut = Math.min(at, word.length);
        expect(editDistance(word, `${word.slice(0, cut)}z${word.slice(cut)}`)).toBe(1);
      }),
      sized(1000, 4),
    );
  });
});
