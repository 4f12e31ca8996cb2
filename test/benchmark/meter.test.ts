import { describe, expect, it } from 'vitest';
import { measure } from '../../src/benchmark/meter.ts';
import { comparePairs, compareRuns } from '../../src/benchmark/statistics.ts';
import { seededChance } from '../../src/engine/drivers/seeded_chance.ts';
import { IS_FULL, runs, seeded } from '../random.ts';

/** The full run measures more pairs, whatever its size. */
const FEWEST = IS_FULL ? 5 : 3;
/**
 * A simulated machine: its clock advances only with work, each copy of a subject is a little faster or slower for as
 * long as it lives, the machine drifts, and now and then something else takes the processor.
 */
function machine(seed: string) {
  const { random } = seededChance(seed);
  let nowMs = 0;
  return {
    clock: () => nowMs,
    subject: (costMs: number) => () => {
      const copy = 1 + (random() - 0.5) * 0.04;
      return () => {
        const drift = 1 + 0.3 * Math.sin(nowMs / 500);
        nowMs += costMs * copy * drift * (1 + 0.1 * random());
        if (random() < 0.005) nowMs += 2;
      };
    },
  };
}

const setting = (clock: () => number, seed: string) => ({
  durationMs: 400,
  warmUpMs: 100,
  extras: false,
  clock,
  random: seededChance(`${seed}/intervals`).random,
});

describe('measuring side by side', () => {
  it('finds no difference in pairs of equal subjects', async () => {
    for (let pair = 0; pair < runs(20, FEWEST); pair++) {
      const { clock, subject } = machine(`equal ${pair}`);
      const options = setting(clock, String(pair));
      const [one, other] = await measure([subject(0.02), subject(0.02)], options);
      expect(comparePairs(one!.samples, other!.samples).verdict).toBe('no difference');
    }
  });

  it.each([35, 900])('nor when a few of %i requests take most of the time', async (cycle) => {
    for (let pair = 0; pair < runs(10, 2); pair++) {
      const { clock, subject } = machine(`uneven ${pair}`);
      const options = { ...setting(clock, String(pair)), cycles: [cycle, cycle] };
      const uneven = () => {
        const [dear, cheap] = [subject(0.05)(), subject(0.002)()];
        return (turn: number) => (turn % cycle < cycle / 7 ? dear() : cheap());
      };
      const [one, other] = await measure([uneven, uneven], options);
      expect(comparePairs(one!.samples, other!.samples).verdict).toBe('no difference');
    }
  });

  it('finds a planted regression of ten percent each time, and an improvement', async () => {
    for (let pair = 0; pair < runs(20, FEWEST); pair++) {
      const { clock, subject } = machine(`planted ${pair}`);
      const options = setting(clock, String(pair));
      const [one, other] = await measure([subject(0.02), subject(0.022)], options);
      expect(comparePairs(one!.samples, other!.samples).verdict).toBe('slower');
      expect(comparePairs(other!.samples, one!.samples).verdict).toBe('faster');
    }
  });

  it('finds it in separate runs, too', async () => {
    const days = await Promise.all(
      [0.02, 0.0226, 0.02].map(async (cost, day) => {
        const { clock, subject } = machine(`day ${day}`);
        return (await measure([subject(cost)], setting(clock, `day ${day}`)))[0]!.samples;
      }),
    );
    const { random } = seededChance('days');
    expect(compareRuns(days[0]!, days[1]!, random).verdict).toBe('slower');
    expect(compareRuns(days[0]!, days[2]!, random).verdict).toBe('no difference');
  });

  it('measures the time of an iteration and not that of the clock', async () => {
    const { clock, subject } = machine('one');
    const [one] = await measure([subject(0.02)], setting(clock, 'one'));
    expect(one!.nsPerOp.value).toBeGreaterThan(15_000);
    expect(one!.nsPerOp.value).toBeLessThan(30_000);
    expect(one!.nsPerOp.low).toBeLessThanOrEqual(one!.nsPerOp.value);
  });
});

describe('a real subject', () => {
  it('reports its allocations and its latencies', async () => {
    const options = { durationMs: 50, warmUpMs: 50, random: seeded(1) };
    const [list, nothing] = await measure(
      [() => () => Array.from({ length: 100 }, (_, at) => at + 0.5), () => (turn) => turn & 1],
      options,
    );
    expect(list!.bytesPerOp).toBeGreaterThan(700);
    expect(nothing!.bytesPerOp).toBeLessThan(50);
    expect(list!.latency.p50).toBeGreaterThan(nothing!.latency.p50);
    expect(list!.latency.max).toBeGreaterThanOrEqual(list!.latency.p999);
  });
});
