import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replaceMatches } from '../../src/filters/find_replace/algorithm.ts';
import { sized } from '../random.ts';
import {
  PATTERN_LIMIT_UNITS,
  PROGRAM_LIMIT_INSTRUCTIONS,
  type Pattern,
  type PatternProblem,
  compilePattern,
  isPatternProblem,
} from '../../src/regex/pattern.ts';

function pattern(source: string): Pattern {
  const answer = compilePattern(source);
  if (isPatternProblem(answer)) throw new Error(answer.message);
  return answer;
}

function replaced(source: string, subject: string, template: string): string {
  const answer = replaceMatches(subject, { from: pattern(source), to: template }, 1_000);
  return typeof answer === 'string' ? answer : answer.text;
}

describe('a pattern', () => {
  it('is found anywhere in the subject', () => {
    expect(pattern('b+').test('abbc')).toBe(true);
    expect(pattern('^b').test('abbc')).toBe(false);
    expect(pattern('').test('')).toBe(true);
    expect(pattern('(?i)BOT').test('a Robot')).toBe(true);
  });

  it('returns numbered and named groups with their places', () => {
    const found = pattern('(?P<word>[a-z]+)-(\\d+)?(?<rest>.)').find('  ab-! 12')!;
    expect(found.groups).toEqual([
      { start: 2, end: 6, text: 'ab-!' },
      { start: 2, end: 4, text: 'ab' },
      undefined,
      { start: 5, end: 6, text: '!' },
    ]);
    expect({ ...found.named }).toEqual({ word: found.groups[1], rest: found.groups[3] });
    expect(pattern('x').find('abc')).toBeNull();
  });

  it('handles group names that objects inherit', () => {
    const found = pattern('(?P<constructor>a)(?P<__proto__>b)').find('ab')!;
    expect(found.named['constructor']?.text).toBe('a');
    expect(found.named['__proto__']?.text).toBe('b');
    expect(found.named['toString']).toBeUndefined();
    expect(replaced('(a)', 'a', '[${constructor}]')).toBe('[]');
  });

  it('searches from an offset, and sees the text before it', () => {
    expect(pattern('a').find('aXa', 1)?.groups[0]?.start).toBe(2);
    expect(pattern('^a').find('aa', 1)).toBeNull();
    expect(pattern('\\ba').find('aa', 1)).toBeNull();
    expect(pattern('$').find('aa', 2)?.groups[0]?.start).toBe(2);
    expect(pattern('a').find('aa', 3)).toBeNull();
  });

  // The answers are those of Go's regexp.MustCompile(pattern).ReplaceAllString(subject, template).
  it.each([
    ['a*', 'baac', 'x', 'xbxcx'],
    ['a(x*)b', '-ab-axxb-', 'T', '-T-T-'],
    ['a(x*)b', '-ab-axxb-', '$1', '--xx-'],
    ['a(x*)b', '-ab-axxb-', '$1W', '---'],
    ['a(x*)b', '-ab-axxb-', '${1}W', '-W-xxW-'],
    ['(?P<first>\\w)(?P<last>\\w)', 'ab cd', '$last$first', 'ba dc'],
    ['(?P<first>\\w)(?P<last>\\w)', 'ab cd', '${last}_${first}', 'b_a d_c'],
    ['b', 'abc', '$$1', 'a$1c'],
    ['b', 'abc', '$', 'a$c'],
    ['b', 'abc', '${', 'a${c'],
    ['b', 'abc', '${-}', 'a${-}c'],
    ['b', 'abc', '$0$0', 'abbc'],
    ['b', 'abc', '[$7$none]', 'a[]c'],
    ['', 'ab', '-', '-a-b-'],
    ['', '\u{1F600}', '-', '-\u{1F600}-'],
    ['(a)|b', 'ab', '<$1>', '<a><>'],
    ['x', 'abc', 'y', 'abc'],
  ])('replaces %s in %s by %s', (source, subject, template, expected) => {
    expect(replaced(source, subject, template)).toBe(expected);
  });
});

describe('a search for all matches', () => {
  const matches = (source: string, subject: string): number | string => {
    const answer = replaceMatches(subject, { from: pattern(source), to: 'x' }, 1_048_576);
    return typeof answer === 'string' ? answer : answer.count;
  };

  it.each([
    ['a(?:.*z)?', 'a'.repeat(20_000)],
    ['(?:a|ab|abc)(?:[a-y]*z)?', 'a'.repeat(20_000)],
    ['(?:a.{0,800}z)|a', 'a'.repeat(20_000)],
  ])('%s ends, because each match scans far', (source, subject) => {
    expect(matches(source, subject)).toBe('too_costly');
  });

  it.each([
    ['a', 'a'.repeat(200_000), 200_000],
    ['"[^"]*"', '"key": "value", '.repeat(10_000), 20_000],
    ['[a-z]+@[a-z]+', 'to ada@example '.repeat(10_000), 10_000],
    ['', 'ab'.repeat(10_000), 20_001],
    ['.*', 'ab\n'.repeat(10_000), 10_001],
    ['a(?:.*z)?', 'a'.repeat(150), 150],
  ])('%s does not', (source, subject, count) => {
    expect(matches(source, subject)).toBe(count);
  });

  it('finds what finding one after another finds, whether characters are counted or not', () => {
    const text = fc.stringMatching(/^[ab"é\u{1F600}]{0,40}$/u);
    fc.assert(
      fc.property(text, fc.constantFrom('a+', '"[^"]*"', 'b?', '(a)(b)?', 'é'), (unit, source) => {
        const subject = unit.repeat(30);
        const found = pattern(source);
        const search = found.search(subject);
        for (let from = 0; from <= subject.length; from++)
          expect(search(from)).toEqual(found.find(subject, from));
      }),
      sized(200, 1),
    );
  });
});

describe('a pattern is refused', () => {
  it.each([
    ['a(?=b)', 'look_around', 1, 'look-ahead'],
    ['a(?!b)', 'look_around', 1, 'negative look-ahead'],
    ['(?<=b)a', 'look_around', 0, 'look-behind'],
    ['x(?<!b)a', 'look_around', 1, 'negative look-behind'],
    ['(a)\\1', 'back_reference', 3, 'exponential'],
    ['\\9', 'back_reference', 0, 'exponential'],
    ['(?P<n>a)(?P=n)', 'back_reference', 8, 'exponential'],
    ['(?<n>a)\\k<n>', 'back_reference', 7, 'exponential'],
    ['(a', 'syntax', 0, 'missing closing )'],
    ['x)', 'syntax', 0, 'unexpected )'],
    ['a{2,1}', 'syntax', 1, 'invalid repeat count'],
    ['a++', 'syntax', 1, 'possessive'],
    ['(?>a)', 'syntax', 0, 'atomic'],
    ['a\\Z', 'syntax', 1, String.raw`\z`],
    ['(?:(?:a{100}){100}){2}', 'syntax', undefined, 'repeat'],
  ])('%s: %s', (source, reason, offset, words) => {
    const problem = compilePattern(source) as PatternProblem;
    expect(problem).toMatchObject({ reason, message: expect.stringContaining(words) });
    expect(problem.offset === offset || offset === undefined).toBe(true);
  });

  it.each([
    '[(?=]',
    '[\\](?=]',
    '[^](?=]',
    '[[:alpha:](?=]',
    '\\Q(?=\\1\\E',
    '\\(?=',
    '\\\\(?:a)',
    '\\012',
    '(?i:a)',
    '(?<n>a)',
  ])('but %s is accepted', (source) => {
    expect(isPatternProblem(compilePattern(source))).toBe(false);
  });

  it('when its source is too long', () => {
    expect(compilePattern('a'.repeat(PATTERN_LIMIT_UNITS))).toMatchObject({
      programInstructions: PATTERN_LIMIT_UNITS + 2,
    });
    expect(compilePattern('a'.repeat(PATTERN_LIMIT_UNITS + 1))).toMatchObject({ reason: 'too_long' });
    expect(compilePattern('abc', { patternUnits: 2, programInstructions: 10 })).toMatchObject({
      reason: 'too_long',
    });
  });

  it('when its program is too large, before an expensive compilation', () => {
    const most = `a{1000}`.repeat(PROGRAM_LIMIT_INSTRUCTIONS / 1000);
    expect(compilePattern(most)).toMatchObject({ reason: 'too_large' });
    expect(isPatternProblem(compilePattern(most.slice('a{1000}'.length)))).toBe(false);
    const started = performance.now();
    expect(compilePattern(`(?:${'ab'.repeat(1000)}){1000}`)).toMatchObject({ reason: 'too_large' });
    expect(compilePattern(`(?:(?:${'ab'.repeat(1000)}){30}){30}`)).toMatchObject({ reason: 'too_large' });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(compilePattern('abc', { patternUnits: 9, programInstructions: 3 })).toMatchObject({
      reason: 'too_large',
    });
    expect(compilePattern('abc', { patternUnits: 9, programInstructions: 3 })).toMatchObject({
      reason: 'too_large',
    });
  });
});
