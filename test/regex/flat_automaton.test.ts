import * as fc from 'fast-check';
import { RE2JS, RE2Set } from 're2js';
import { expect, it } from 'vitest';
import { FlatAutomaton } from '../../src/regex/flat_automaton.ts';
import { automatonOfPattern, automatonOfSet } from '../../src/regex/program.ts';
import { seeded, sized } from '../random.ts';

/** The table against the library that fills it. */

const PATTERNS = [
  'a',
  '^ab',
  'b$',
  '\\bab\\b',
  '\\Ba',
  '(?i)straße|k',
  '(?m)^b$',
  '[^a-c]{2}',
  'é|\\pL\\d',
  '.\\z',
  '',
  '(?s)a.b',
  '😀+',
  '\\x{d800}|�',
];
const text = fc
  .array(fc.constantFrom('a', 'b', 'A', 'K', 'K', 'ß', ' ', '\n', '0', 'é', '😀', '\ud83d', '\ude00', '�'))
  .map((parts) => parts.join(''));

function setOf(sources: readonly string[]): RE2Set {
  const set = new RE2Set();
  for (const source of sources) set.add(source);
  set.compile();
  return set;
}

it.each([[16], [64], [4_096]])('finds what the library finds, with room for %d entries', (limit) => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PATTERNS), { minLength: 1, maxLength: 6 }),
      fc.array(text, { minLength: 1, maxLength: 12 }),
      (sources, subjects) => {
        const set = setOf(sources);
        const flat = new FlatAutomaton(automatonOfSet(set)!, limit);
        // An automaton of its own, so that neither learns from the other.
        const reference = setOf(sources);
        for (const subject of subjects) {
          const found = flat.first(subject);
          if (found !== null || limit > 1_000) expect(found).toBe(reference.match(subject)[0] ?? -1);
        }
      },
    ),
    sized(2_000),
  );
});

it.each(PATTERNS.map((source) => [source]))('a pattern alone: %j', (source) => {
  const compiled = RE2JS.compile(source);
  const flat = new FlatAutomaton(automatonOfPattern(RE2JS.compile(source))!, 4_096);
  fc.assert(
    fc.property(text, (subject) => {
      expect(flat.first(subject)).toBe(compiled.test(subject) ? 0 : -1);
    }),
    sized(400),
  );
});

it('gives up where there are too many states, and begins again', () => {
  const set = setOf(['a.{12}c']);
  const flat = new FlatAutomaton(automatonOfSet(set)!, 256);
  const chance = seeded(1);
  const many = Array.from({ length: 400 }, () => (chance() < 0.5 ? 'a' : 'b')).join('');
  expect(flat.first(many)).toBeNull();
  expect(flat.first('bbb')).toBe(-1);
  expect(flat.first(many)).toBeNull();
  expect(flat.first('abbbbbbbbbbbbc')).toBe(0);
});
