import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from 'vitest';

import { type Pattern, compilePattern, isPatternProblem } from '../../src/regex/pattern.ts';
import { compilePatternSet, isPatternSet } from '../../src/regex/pattern_set.ts';
import { runs } from '../random.ts';

function pattern(source: string): Pattern {
  const answer = compilePattern(source);
  if (isPatternProblem(answer)) throw new Error(answer.message);
  return answer;
}

/** Fastest of three runs, so that a busy machine does not fail a test of growth. */
function fastestMs(run: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const started = performance.now();
    run();
    return performance.now() - started;
  });
  return Math.min(...times);
}

/** Far above what linear time takes on a busy machine, and far below what anything else does. */
const SECONDS = 5_000;

// Each takes a backtracking engine longer than anyone waits, on its subject.
const HOSTILE: readonly (readonly [source: string, piece: string])[] = [
  ['(a+)+$', 'a'],
  ['(a*)*$', 'a'],
  ['(a|aa)+$', 'a'],
  ['(a|a?)+$', 'a'],
  ['(?:a+)+(?:a+)+(?:a+)+b', 'a'],
  ['([a-zA-Z]+)*\\d', 'a'],
  ['(.*a){20}$', 'a'],
  ['(x+x+)+y', 'x'],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
  ['(\\w+\\s?)+\\.$', 'ab '],
  ['(a?){100}a{100}$', 'a'],
  ['(?i)(?:(?:bot|spider|crawl)+[^;]*;?)+$', 'bot'],
];

describe('matching takes time linear in the subject', () => {
  it.each(HOSTILE)('%s on 10,000 × %s', (source, piece) => {
    const subject = `${piece.repeat(10_000)}!`;
    const compiled = pattern(source);
    expect(fastestMs(() => compiled.test(subject))).toBeLessThan(SECONDS);
    expect(fastestMs(() => compiled.find(subject))).toBeLessThan(SECONDS);
  });

  it('in sets too', () => {
    const set = compilePatternSet(HOSTILE.map(([source]) => source));
    if (!isPatternSet(set)) throw new Error('refused');
    expect(fastestMs(() => set.first(`${'a'.repeat(10_000)}!`))).toBeLessThan(SECONDS);
  });

  it('when the automaton has more states than memory', () => {
    let state = 7;
    const bit = (): string =>
      (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) & 0x10000 ? 'a' : 'b';
    const subject = Array.from({ length: 10_000 }, bit).join('');
    const compiled = pattern('[ab]*a[ab]{200}c');
    const set = compilePatternSet(['[ab]*a[ab]{200}c', 'd']);
    if (!isPatternSet(set)) throw new Error('refused');
    expect(fastestMs(() => compiled.test(subject))).toBeLessThan(SECONDS);
    expect(fastestMs(() => set.first(subject))).toBeLessThan(SECONDS);
    expect(set.first(subject)).toBe(-1);
    expect(set.first(`${'ba'.repeat(500)}c`)).toBe(0);
  });

  it('grows no faster than the subject', () => {
    const compiled = pattern('(a+)+$');
    const short = `${'a'.repeat(20_000)}!`;
    const long = `${'a'.repeat(200_000)}!`;
    compiled.test(short);
    expect(fastestMs(() => compiled.test(long))).toBeLessThan(
      30 *
        Math.max(
          2,
          fastestMs(() => compiled.test(short)),
        ),
    );
  });
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedMegabytes(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function compileSome(from: number, count: number): void {
  for (let number = from; number < from + count; number++) {
    if (!pattern(`^/v${number}/(\\w+)$`).test(`/v${number}/users`)) throw new Error(`no match of ${number}`);
  }
}

describe('memory', () => {
  it('stays flat over many distinct compilations', () => {
    compileSome(0, runs(5_000));
    const before = usedMegabytes();
    compileSome(5_000, runs(45_000));
    expect(usedMegabytes() - before).toBeLessThan(20);
  });

  it('reuses a recently compiled pattern', () => {
    expect(compilePattern('shared [a-z]+')).toBe(compilePattern('shared [a-z]+'));
  });
});
