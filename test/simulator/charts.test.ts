import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Axis, areaPlot, linePlot } from '../../src/simulator/report/charts.ts';
import { sized } from '../random.ts';

const AXIS: Axis = { durationMs: 60_000, stretches: 3, changes: [] };
const latency = (...values: (number | null)[]) => [{ name: 'p50', color: '#000', total: '', values }];

/** Heights of the points of a line, from the top. */
function heights(svg: string): number[] {
  const points = /points="([^"]*)"/.exec(svg)![1]!;
  return points.split(' ').map((point) => Number(point.split(',')[1]));
}

function labels(svg: string): { x: number; y: number; text: string }[] {
  const found = svg.matchAll(/<text class="said" x="([\d.]+)" y="(-?[\d.]+)">([^<]*)</g);
  return Array.from(found, ([, x, y, text]) => ({ x: Number(x), y: Number(y), text: text! }));
}

describe('the axis of latency', () => {
  it('is logarithmic: equal factors are equal distances', () => {
    const [one, ten, hundred] = heights(linePlot(latency(1, 10, 100), AXIS, { unit: ' ms', per: 1 }));
    expect(one! - ten!).toBeCloseTo(ten! - hundred!, 1);
    const svg = linePlot(latency(1, 10, 60_000), AXIS, { unit: ' ms', per: 1 });
    expect([...svg.matchAll(/text-anchor="end">([\d.]+)/g)].map(([, value]) => value)).toEqual(
      expect.arrayContaining(['1', '10', '100', '1000', '10000']),
    );
  });

  it('stays inside the plot for any values', () => {
    const value = fc.option(fc.double({ min: 0, max: 1e7, noNaN: true }));
    fc.assert(
      fc.property(fc.array(value, { minLength: 3, maxLength: 3 }), (values) => {
        const svg = linePlot(latency(...values), AXIS, { unit: ' ms', per: 1 });
        expect(svg).not.toMatch(/NaN|Infinity/);
        const known = values.some((each) => each !== null);
        for (const y of known ? heights(svg) : []) expect(y >= 15.9 && y <= 216.1).toBe(true);
      }),
      sized(200, 7),
    );
  });
});

describe('labels of changes', () => {
  it('never overlap, and stay inside the page', () => {
    const change = fc.record({
      atMs: fc.nat(60_000),
      message: fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom('a', 'b', ':', ' ') }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        const svg = areaPlot(latency(1, 2, 3), { ...AXIS, changes }, { unit: '/s', per: 1 });
        const top = Number(/viewBox="0 (-?\d+)/.exec(svg)![1]);
        const placed = labels(svg);
        expect(placed).toHaveLength(changes.length);
        for (const [at, one] of placed.entries()) {
          expect(one.y - 10).toBeGreaterThanOrEqual(top - 1);
          expect(one.x).toBeGreaterThanOrEqual(0);
          expect(one.x + one.text.length * 7).toBeLessThanOrEqual(961);
          for (const other of placed.slice(at + 1)) {
            const [left, right] = one.x < other.x ? [one, other] : [other, one];
            expect(one.y !== other.y || left.x + left.text.length * 7 <= right.x + 0.1).toBe(true);
          }
        }
      }),
      sized(200, 7),
    );
  });
});
