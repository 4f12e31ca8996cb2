import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededChance } from '../../src/engine/drivers/seeded_chance.ts';
import { walkChance } from '../../src/simulator/chance_walk.ts';
import { fraction, readFraction, shownFraction, simplestBetween } from '../../src/simulator/fraction.ts';
import { virtualClock } from '../../src/simulator/virtual_clock.ts';
import { sized } from '../random.ts';

const SEED = 20_261_121;

describe('the virtual clock', () => {
  it('runs callbacks in the order of time, then of scheduling, as a sorted list does', () => {
    const things = fc.array(fc.record({ at: fc.nat(20), next: fc.option(fc.nat(10), { nil: null }) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(things, (given) => {
        const clock = virtualClock(0);
        const heard: string[] = [];
        for (const [index, { at, next }] of given.entries()) {
          clock.schedule(at, () => {
            heard.push(`${index}@${clock.nowMs()}`);
            if (next !== null)
              clock.schedule(clock.nowMs() + next, () => heard.push(`${index}'@${clock.nowMs()}`));
          });
        }
        while (clock.step());
        expect(heard).toEqual(naive(given));
      }),
      sized(300, SEED),
    );
  });

  it('stops at the given time, and never goes back', () => {
    const clock = virtualClock(100);
    const heard: number[] = [];
    clock.schedule(150, () => heard.push(clock.nowMs()));
    clock.schedule(50, () => heard.push(clock.nowMs()));
    clock.advanceTo(149);
    expect([heard, clock.nowMs()]).toEqual([[100], 149]);
    clock.advanceTo(120);
    expect(clock.nowMs()).toBe(149);
    clock.advanceTo(150);
    expect(heard).toEqual([100, 150]);
  });
});

/** The same by sorting a list again for every step. */
function naive(given: readonly { readonly at: number; readonly next: number | null }[]): string[] {
  let list = given.map(({ at, next }, index) => ({ at, order: index, name: String(index), next }));
  let order = given.length;
  const heard: string[] = [];
  while (list.length > 0) {
    list = list.sort((one, other) => one.at - other.at || one.order - other.order);
    const { at, name, next } = list.shift()!;
    heard.push(`${name}@${at}`);
    if (next !== null) list.push({ at: at + next, order: order++, name: `${name}'`, next: null });
  }
  return heard;
}

describe('seeded chance', () => {
  it('is the same on every machine', () => {
    const { random } = seededChance(1);
    expect([random(), random(), random()]).toMatchInlineSnapshot(`
      [
        0.04519767798219043,
        0.5773036436330906,
        0.3715550779972763,
      ]
    `);
  });

  it('splits into independent parts', () => {
    const one = seededChance('a');
    const other = seededChance('a');
    other.random();
    expect(one.split('x').random()).toBe(other.split('x').random());
    expect(one.split('x').random()).not.toBe(one.split('y').random());
  });

  it('is uniform: sixteen parts of 160,000 draws, by chi square', () => {
    const { random } = seededChance('uniform');
    const counts = Array.from({ length: 16 }, () => 0);
    for (let turn = 0; turn < 160_000; turn++) counts[Math.floor(random() * 16)]!++;
    const chiSquare = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    // 15 degrees of freedom: above 45 in one run of ten thousand.
    expect(chiSquare).toBeLessThan(45);
  });
});

describe('exact chance', () => {
  it('gives the shares of weights as fractions', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(weights, (given) => {
        const total = given.reduce((sum, weight) => sum + weight, 0);
        const ends = given.map((_, index) =>
          given.slice(0, index + 1).reduce((sum, weight) => sum + weight, 0),
        );
        const run = (random: () => number) => {
          const point = random() * total;
          return String(ends.findIndex((end) => point < end));
        };
        const walked = walkChance(
          run,
          ends.map((end) => fraction(end, total)),
        )!;
        const expected = given.map((weight, index) => [
          String(index),
          shownFraction(fraction(weight, total)),
        ]);
        expect([...walked.shares].map(([name, share]) => [name, shownFraction(share)])).toEqual(expected);
      }),
      sized(60, SEED),
    );
  });

  it('finds undeclared bounds, and multiplies consecutive draws', () => {
    const walked = walkChance((random) => (random() < 1 / 3 ? 'a' : random() < 0.25 ? 'b' : 'c'), [])!;
    const shares = Object.fromEntries(
      [...walked.shares].map(([name, share]) => [name, shownFraction(share).split(' ')[0]]),
    );
    expect(shares).toEqual({ a: '1/3', b: '1/6', c: '1/2' });
  });

  it('stops when there are too many outcomes', () => {
    expect(walkChance((random) => String(Array.from({ length: 20 }, () => random() < 0.5)), [])).toBeNull();
  });

  it('finds the simplest fraction in an interval, as trying all denominators does', () => {
    const decimal = fc.integer({ min: 0, max: 1_000 });
    fc.assert(
      fc.property(decimal, decimal, (one, other) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const found = simplestBetween(readFraction(low / 1_000)!, readFraction(high / 1_000)!);
        let below = 1;
        while (Math.ceil((low * below) / 1_000) * 1_000 > high * below) below++;
        expect(Number(found.below)).toBe(below);
        expect(Number(found.above)).toBe(Math.ceil((low * below) / 1_000));
      }),
      sized(500, SEED),
    );
  });
});
