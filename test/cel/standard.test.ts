import { describe, expect, it } from 'vitest';

import { compile, declareScope, explain, STANDARD } from '../../src/cel/index.ts';
import { quickTest } from '../../src/cel/std/quick_pattern.ts';
import { compilePattern } from '../../src/regex/pattern.ts';
import type { Pattern } from '../../src/regex/pattern.ts';
import { cpuMs } from '../cpu_time.ts';
import { runs, seeded } from '../random.ts';

const EMPTY = declareScope({ name: 'empty', functions: STANDARD, variables: [] });

it('base64.decode refuses a long run of padding within a text in linear time', () => {
  const row = STANDARD.rows.find(({ name }) => name === 'base64.decode');
  if (row?.kind !== 'function') throw new Error('there is no such function');
  const decode = row.overloads[0]!.call as (text: string) => unknown;
  const text = `a${'='.repeat(60_000)}a`;
  expect(cpuMs(() => expect(decode(text)).toHaveProperty('code', 'expr.invalid_argument'))).toBeLessThan(200);
});

describe('the function tables', () => {
  it.each(STANDARD.rows.map((row) => [row.name, row.example] as const))('%s: %s', (_name, example) => {
    const { program, diagnostics } = compile(example, EMPTY);
    expect(diagnostics.filter((one) => one.severity === 'error')).toEqual([]);
    expect(program?.evaluate({})).toBe(true);
    expect(explain(program!, {}).outcome).toBe(true);
  });

  it('has one sentence for each row and no duplicate overloads', () => {
    const ids = STANDARD.rows.flatMap((row) =>
      row.kind === 'function' ? row.overloads.map((one) => one.id) : [],
    );
    expect(new Set(ids).size).toBe(ids.length);
    for (const row of STANDARD.rows) expect(row.doc).toMatch(/^[A-Z0-9].*\.$/);
  });
});

describe('replace', () => {
  it.each([
    ['aXbXc', 'X', '-', -1, 'a-b-c'],
    ['aXbXc', 'X', '-', 1, 'a-bXc'],
    ['aXbXc', 'X', '-', 0, 'aXbXc'],
    ['aXbXc', 'X', '$&', 9, 'a$&b$&c'],
    ['a😀b', '', '-', -1, '-a-😀-b-'],
    ['a😀b', '', '-', 2, '-a-😀b'],
    ['', '', '-', -1, '-'],
    ['aaa', 'aa', 'b', -1, 'ba'],
  ])('%s: %s by %s, %i times', (text, old, fresh, limit, expected) => {
    const quoted = [text, old, fresh].map((each) => `'${each}'`);
    const { program } = compile(`${quoted[0]}.replace(${quoted[1]}, ${quoted[2]}, ${limit})`, EMPTY);
    expect(program?.evaluate({})).toBe(expected);
  });
});

describe('patterns that V8 may run', () => {
  const atoms = [
    'a',
    'b',
    'k',
    'K',
    '.',
    '[ab]',
    '[^a]',
    '[a-c0-9]',
    String.raw`\d`,
    String.raw`\w`,
    String.raw`\.`,
    'é',
    '𝒳',
    '(a|b)',
    '(?:ab|c)',
    '^',
    '$',
    'ab',
  ];
  const marks = ['', '', '', '?', '*', '+', '{2}', '*?'];
  const letters = [
    'a',
    'b',
    'c',
    'k',
    'K',
    '\u212a',
    'é',
    '𝒳',
    '1',
    '.',
    '\n',
    '\r',
    '\u2028',
    'A',
    '_',
    '-',
  ];

  it('give the same as the linear-time engine', () => {
    const random = seeded(11);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const make = (length: number): string => Array.from({ length }, () => pick(atoms) + pick(marks)).join('');
    const rounds = runs(20_000);
    let quick = 0;
    for (let round = 0; round < rounds; round += 1) {
      const flags = random() < 0.3 ? '(?i)' : '';
      const source =
        flags +
        Array.from({ length: random() < 0.3 ? 2 : 1 }, () => make(1 + Math.floor(random() * 4))).join('|');
      const pattern = compilePattern(source);
      if (!('test' in pattern)) continue;
      const made = quickTest(pattern);
      if (made === undefined) continue;
      quick += 1;
      for (let count = 0; count < 5; count += 1) {
        const subject = Array.from({ length: Math.floor(random() * 6) }, () => pick(letters)).join('');
        expect([source, subject, made(subject)]).toEqual([source, subject, pattern.test(subject)]);
      }
    }
    expect(quick).toBeGreaterThan(rounds / 10);
  });

  it.each([
    '(a+)+$',
    'a+b',
    '(a*)*',
    'a{1000}',
    '(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)',
    '^a*a*b',
    '(?s)a',
    '(?i)[[:alpha:]]',
    String.raw`\bfoo`,
    String.raw`\pL`,
    '(?P<n>a)',
  ])('exclude those that could be slow or differ in meaning: %s', (source) => {
    expect(quickTest(compilePattern(source) as Pattern)).toBeUndefined();
  });

  it('take linear time on the worst subjects', () => {
    const worst = [
      `${'a'.repeat(200)}b`,
      '^[ab]*[ac]?[ad]?c',
      'aaaaaaaaaaaaaaaab|aaaaaaaaaaaaaaaac|aaaaaaaaaaaaaaaad',
    ];
    for (const source of worst) {
      const pattern = compilePattern(source) as Pattern;
      const made = quickTest(pattern) ?? ((text: string) => pattern.test(text));
      const leastMs = (length: number): number => {
        const subject = 'a'.repeat(length);
        expect(made(subject)).toBe(false);
        const turns = 2_000_000 / length;
        const all = (): void => {
          for (let turn = 0; turn < turns; turn++) made(subject);
        };
        return Math.min(...Array.from({ length: 5 }, () => cpuMs(all)));
      };
      // The same number of characters: quadratic time would be ten times as much. Some systems count in steps of 4 ms.
      expect(leastMs(200_000)).toBeLessThan(4 * Math.max(10, leastMs(20_000)));
    }
  });
});
