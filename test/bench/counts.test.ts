import { expect, it } from 'vitest';
import { judged } from '../../bench/counts/run.ts';

const BOUNDS = { bytes: 100, calls: 10 };

it('passes counts within their bound, and reports a loose bound', () => {
  const { lines, within } = judged(
    [
      { name: 'bytes', value: 100 },
      { name: 'calls', value: 5 },
    ],
    BOUNDS,
  );
  expect(within).toBe(true);
  expect(lines[0]).toBe('ok       bytes: 100 of 100');
  expect(lines[1]).toContain('the bound is loose');
});

it('fails counts above their bound, or without one', () => {
  expect(judged([{ name: 'bytes', value: 101 }], BOUNDS)).toEqual({
    lines: ['ABOVE    bytes: 101, and its bound is 100'],
    within: false,
  });
  expect(judged([{ name: 'new', value: 1 }], BOUNDS).within).toBe(false);
});

it('names counts that could not be measured', () => {
  const { lines, within } = judged([{ name: 'calls', value: null, why: 'strace is not installed' }], BOUNDS);
  expect(lines).toEqual(['skipped  calls: strace is not installed']);
  expect(within).toBe(true);
});
