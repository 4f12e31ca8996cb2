import { type Dfa, isAccepted } from '../../src/analysis/texts/automaton.ts';
import { describe, expect, test } from 'vitest';
import { compilePattern, isPatternProblem } from '../../src/regex/pattern.ts';
import { patternDfa } from '../../src/analysis/fields.ts';
import { dfaOf } from '../../src/analysis/texts/dfa.ts';
import { shortestText } from '../../src/analysis/texts/intersect.ts';
import { type AnyMachine, literals, withAbsent, withSlash } from '../../src/analysis/texts/machine.ts';
import { lengths, numbersBelow } from '../../src/analysis/texts/numbers.ts';
import { LOWER_ASCII } from '../../src/analysis/texts/functions.ts';
import { runs, seeded } from '../random.ts';

const ALPHABET = [
  'a',
  'b',
  'k',
  'K',
  's',
  'S',
  '\u017f',
  '\u212a',
  'é',
  'É',
  '/',
  '-',
  ' ',
  '\n',
  '0',
  '_',
  '𝒳',
];

function randomPattern(chance: () => number, depth = 3): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!;
  if (depth === 0)
    return pick([
      'a',
      'b',
      'k',
      's',
      'é',
      '/',
      '.',
      '[a-k]',
      '[^b]',
      String.raw`\w`,
      String.raw`\d`,
      '𝒳',
      'K',
    ]);
  const inner = (): string => randomPattern(chance, depth - 1);
  switch (Math.floor(chance() * 8)) {
    case 0:
      return `${inner()}${inner()}`;
    case 1:
      return `(?:${inner()}|${inner()})`;
    case 2:
      return `(?:${inner()})${pick(['*', '+', '?', '{1,3}', '*?'])}`;
    case 3:
      return `${pick(['^', '$', String.raw`\b`, String.raw`\B`, '(?m:^)', '(?m:$)', String.raw`\A`, String.raw`\z`])}${inner()}`;
    case 4:
      return `${inner()}${pick(['$', String.raw`\b`, String.raw`\z`, '(?m:$)'])}`;
    case 5:
      return `(?i:${inner()})`;
    case 6:
      return `(?s:${inner()})`;
    default:
      return `(${inner()})${inner()}`;
  }
}

function randomText(chance: () => number): string {
  let text = '';
  for (let left = Math.floor(chance() * 8); left > 0; left--)
    text += ALPHABET[Math.floor(chance() * ALPHABET.length)]!;
  return text;
}

const charactersOf = (text: string): number => Array.from(text).length;
const SHORT_TEXTS = ['', ...ALPHABET, ...ALPHABET.flatMap((one) => ALPHABET.map((other) => one + other))];

describe('automata of patterns', () => {
  test('accept exactly the texts in which the engine finds the pattern', () => {
    const chance = seeded(41);
    let compared = 0;
    for (let round = 0; round < runs(10_000, 300); round++) {
      const source = randomPattern(chance);
      const pattern = compilePattern(source);
      if (isPatternProblem(pattern)) continue;
      const dfa = patternDfa(source);
      if (dfa === null) continue;
      for (let each = 0; each < 12; each++) {
        const text = randomText(chance);
        expect([source, text, isAccepted(dfa, text)]).toEqual([source, text, pattern.test(text)]);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(1_000);
  });

  test('a shortest text of a conjunction is one, and none is claimed only if there is none', () => {
    const chance = seeded(42);
    for (let round = 0; round < runs(4_000, 150); round++) {
      const count = chance() < 0.5 ? 2 : 3 + Math.floor(chance() * 5);
      const sources = Array.from({ length: count }, () => randomPattern(chance, 2));
      const signs = sources.map((_, at) => chance() < (at === 0 ? 0.7 : 0.4));
      const patterns = sources.map((source) => compilePattern(source));
      if (patterns.some(isPatternProblem)) continue;
      const dfas = sources.map((source) => patternDfa(source));
      if (dfas.includes(null)) continue;
      const answer = shortestText(dfas.map((dfa, at) => ({ dfa: dfa!, accepted: signs[at]! })));
      const holds = (text: string): boolean =>
        patterns.every(
          (pattern, at) => (pattern as { test: (text: string) => boolean }).test(text) === signs[at],
        );
      if (answer === 'none') {
        for (const text of SHORT_TEXTS) if (holds(text)) expect([sources, signs, text]).toBe(answer);
        for (let each = 0; each < 40; each++) expect(holds(randomText(chance))).toBe(false);
      } else if (answer !== 'unknown' && answer.text !== null) {
        const { text: found } = answer;
        expect([sources, signs, holds(found)]).toEqual([sources, signs, true]);
        const shorter = SHORT_TEXTS.filter((text) => charactersOf(text) < charactersOf(found));
        expect([sources, signs, shorter.find(holds)]).toEqual([sources, signs, undefined]);
      }
    }
  });

  test('equal languages have equal keys', () => {
    const pairs = [
      ['^/v1/(?:a|b)$', '^/v1/[ab]$'],
      ['(?i)^k', '^[kK\u212a]'],
      ['^(?:ab)*$', '^(?:(?:ab)+)?$'],
      ['a', '.*a|a'],
    ] as const;
    for (const [one, other] of pairs)
      expect(patternDfa(`(?s)${one}`)!.key).toBe(patternDfa(`(?s)${other}`)!.key);
    expect(patternDfa('^a')!.key).not.toBe(patternDfa('^b')!.key);
  });

  test('a pattern with too many states has no automaton', () => {
    expect(patternDfa('a.{20}$')).toBe(null);
    expect(patternDfa('a.{5}$')).not.toBe(null);
  });
});

describe('other sets of texts', () => {
  const of = <State>(machine: Parameters<typeof dfaOf<State>>[0]): Dfa => dfaOf(machine)!;
  test.each([
    ['equal', of(literals(['/a', '/bé'], 'equal')), ['/a', '/bé'], ['', '/', '/ab', '/b']],
    ['prefixes', of(literals(['/a', '/bé'], 'prefix')), ['/a', '/ab', '/béx'], ['', '/b']],
    ['lengths count code points', of(lengths(numbersBelow(3n))), ['', 'ab', '𝒳𝒳'], ['abc']],
    [
      'lower case',
      of(LOWER_ASCII.before(literals(['ab'], 'equal') as AnyMachine, false)),
      ['ab', 'AB', 'aB'],
      ['a', 'abc'],
    ],
    ['a slash more', of(withSlash(literals(['/a', '/a/'], 'equal'))), ['/a/', '/a//'], ['/a', '/', '/b/']],
  ] as const)('%s', (_name, dfa, accepted, refused) => {
    for (const text of accepted) expect([text, isAccepted(dfa, text)]).toEqual([text, true]);
    for (const text of refused) expect([text, isAccepted(dfa, text)]).toEqual([text, false]);
  });

  test('no text is an absent field', () => {
    const machine = literals([''], 'prefix');
    expect(isAccepted(of(withAbsent(machine, false)), undefined)).toBe(false);
    expect(isAccepted(of(withAbsent(machine, true)), undefined)).toBe(true);
    expect(isAccepted(of(withAbsent(machine, false)), '')).toBe(true);
  });
});
