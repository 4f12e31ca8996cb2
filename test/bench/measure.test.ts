import { expect, test } from 'vitest';
import { overBlocks, renderMarkdown } from '../../bench/measure.ts';

const SECTION = { title: 'A section', notes: [], floors: ['bare'], between: 'the checks' };

test('a row tells its floor, the best peer and the others, by what is better of its unit', () => {
  const peers = { slow: 30, bare: 5, quick: 20 };
  const text = renderMarkdown({ ...SECTION, rows: [{ name: 'work', ours: 10, unit: 'ns', peers }] });
  expect(text).toContain(
    '| work | bare 5.00 (0.500 ×) | quick 20.0 (2.00 ×) | 10.0 ns | slow 30.0 (3.00 ×) |',
  );
  expect(text).toContain('- between floor and ours: the checks');
  const rate = renderMarkdown({ ...SECTION, rows: [{ name: 'work', ours: 10, unit: '/s', peers }] });
  expect(rate).toContain('| bare 5.00 (0.500 ×) | slow 30.0 (3.00 ×) | 10.0 /s | quick 20.0 (2.00 ×) |');
});

test('without a peer that is a floor, a row has its own', () => {
  const floor = { name: 'an empty process', value: 40 };
  const row = { name: 'memory', ours: 80, unit: 'MiB', peers: {}, floor };
  expect(renderMarkdown({ ...SECTION, rows: [row] })).toContain(
    '| memory | an empty process 40.0 (0.500 ×) |  | 80.0 MiB |  |',
  );
});

test('one block that was held up moves neither the median over blocks nor much of its interval', () => {
  const blocks = [1, 2, 3, 2, 1, 2, 3, 2, 900];
  const { value, low, high } = overBlocks(blocks);
  expect([value, low]).toEqual([2, expect.any(Number)]);
  expect(low).toBeGreaterThanOrEqual(1);
  expect(high).toBeLessThanOrEqual(3);
  expect(overBlocks(blocks)).toEqual({ value, low, high });
});
