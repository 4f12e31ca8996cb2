import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keysHeld, newRateLimiter, take } from '../../src/filters/rate_limit/algorithm.ts';
import { IS_FULL, sized } from '../random.ts';

interface Step {
  readonly afterMs: number;
  readonly key: string;
}

const steps = (longestMs: number) =>
  fc.array(
    fc.record({
      afterMs: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: Math.ceil(longestMs) }),
        fc.integer({ min: -50, max: 50 }),
      ),
      key: fc.constantFrom('a', 'b', 'c'),
    }),
    { minLength: 1, maxLength: 120 },
  );

const settings = fc.record({
  capacity: fc.integer({ min: 1, max: 6 }),
  windowMs: fc.constantFrom(10, 100, 1_000, 60_000),
});

/** The definition, word for word: remember every accepted request, count those of the last eleven slots. */
function naive(capacity: number, windowMs: number): (key: string, time: number) => boolean {
  const letThrough: { key: string; slot: number }[] = [];
  const slotMs = windowMs / 10;
  return (key, time) => {
    const slot = Math.floor(time / slotMs);
    const counted = letThrough.filter((each) => each.key === key && each.slot >= slot - 10).length;
    if (counted >= capacity) return false;
    letThrough.push({ key, slot });
    return true;
  };
}

/** The clock as a limiter sees it: a step back takes no time. */
function run(given: readonly Step[], each: (key: string, nowMs: number, time: number) => void): void {
  let nowMs = 1_700_000_000_000;
  // Time begins with the first request.
  let lastMs = Number.NaN;
  let time = 0;
  for (const { afterMs, key } of given) {
    nowMs += afterMs;
    if (nowMs > lastMs) time += nowMs - lastMs;
    lastMs = nowMs;
    each(key, nowMs, time);
  }
}

describe('a rate limiter', () => {
  test('agrees with a naive model for any clock', () => {
    fc.assert(
      fc.property(
        settings.chain((chosen) => fc.tuple(fc.constant(chosen), steps(chosen.windowMs * 1.5))),
        ([{ capacity, windowMs }, given]) => {
          const limiter = newRateLimiter({ capacity, windowMs, keyLimit: 100 });
          const model = naive(capacity, windowMs);
          run(given, (key, nowMs, time) => {
            expect(take(limiter, key, nowMs) === 0).toBe(model(key, time));
          });
        },
      ),
      sized(2_000, 4),
    );
  });

  test('never exceeds its capacity in any window, and admits everything that fits into 1.1 windows', () => {
    fc.assert(
      fc.property(
        settings.chain((chosen) => fc.tuple(fc.constant(chosen), steps(chosen.windowMs / 2))),
        ([{ capacity, windowMs }, given]) => {
          const limiter = newRateLimiter({ capacity, windowMs, keyLimit: 100 });
          const log = new Map<string, number[]>();
          run(given, (key, nowMs, time) => {
            const times = log.get(key) ?? [];
            log.set(key, times);
            const within = (spanMs: number) => times.filter((each) => each > time - spanMs).length;
            const taken = take(limiter, key, nowMs) === 0;
            expect(taken ? within(windowMs) < capacity : within(windowMs * 1.1) >= capacity).toBe(true);
            if (taken) times.push(time);
          });
        },
      ),
      sized(2_000, 5),
    );
  });

  test('returns the exact wait until the next admission', () => {
    fc.assert(
      fc.property(
        settings.chain((chosen) => fc.tuple(fc.constant(chosen), steps(chosen.windowMs / 4))),
        ([{ capacity, windowMs }, given]) => {
          const limiter = newRateLimiter({ capacity, windowMs, keyLimit: 100 });
          run(given, (key, nowMs) => {
            const waitMs = take(limiter, key, nowMs);
            if (waitMs === 0) return;
            expect(waitMs).toBeGreaterThan(0);
            expect(take(structuredClone(limiter), key, nowMs + waitMs - 1)).toBe(1);
            expect(take(structuredClone(limiter), key, nowMs + waitMs)).toBe(0);
          });
        },
      ),
      sized(300, 6),
    );
  });

  test('limits the number of keys; further ones share one window', () => {
    const limiter = newRateLimiter({ capacity: 2, windowMs: 60_000, keyLimit: 10 });
    for (let key = 0; key < 10; key++) expect(take(limiter, `known ${key}`, 0)).toBe(0);
    expect(take(limiter, 'late 1', 0)).toBe(0);
    expect(take(limiter, 'late 2', 0)).toBe(0);
    expect(take(limiter, 'late 3', 0)).toBeGreaterThan(0);
    expect(take(limiter, 'known 3', 0)).toBe(0);
    expect(take(limiter, 'known 3', 0)).toBeGreaterThan(0);
    expect(keysHeld(limiter)).toBe(10);
    expect(take(limiter, 'late 3', 200_000)).toBe(0);
    expect(keysHeld(limiter)).toBe(1);
  });

  test('counts what the shared window admitted for a key that gets its own', () => {
    const limiter = newRateLimiter({ capacity: 5, windowMs: 1_000, keyLimit: 1 });
    const admitted = (nowMs: number): number => {
      let count = 0;
      while (take(limiter, 'late', nowMs) === 0) count++;
      return count;
    };
    take(limiter, 'flood', 0);
    expect(take(limiter, 'late', 2_100)).toBe(0);
    expect(admitted(3_150)).toBe(4);
    // The place of the flood is free now, and the first request has expired.
    expect(admitted(3_250)).toBe(1);
    expect(keysHeld(limiter)).toBe(1);
    expect(take(limiter, 'late', 3_250)).toBe(950);
    expect(admitted(4_200)).toBe(4);
  });

  test('memory is bounded for more keys than the limit', () => {
    const keyLimit = IS_FULL ? 1_000_000 : 100_000;
    const limiter = newRateLimiter({ capacity: 5, windowMs: 60_000, keyLimit });
    const before = process.memoryUsage();
    for (let key = 0; key < 1.2 * keyLimit; key++) take(limiter, `client-${key}`, Math.floor(key / 100));
    expect(keysHeld(limiter)).toBe(keyLimit);
    const after = process.memoryUsage();
    const countsBytes = after.arrayBuffers - before.arrayBuffers;
    expect(countsBytes).toBeLessThan(210 * keyLimit);
    expect(limiter.recent.counts.byteLength).toBeLessThan(105 * keyLimit);
    take(limiter, 'client-1', 10_000_000);
    expect(keysHeld(limiter)).toBe(1);
    expect(limiter.recent.counts.byteLength).toBeLessThan(2_000);
  });
});
