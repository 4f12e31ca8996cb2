import { expect, test } from 'vitest';
import { recentValues } from '../../src/caches/recent_values.ts';

test('the last texts are not computed again, and no others are kept', () => {
  const made: string[] = [];
  const of = recentValues((text) => {
    made.push(text);
    return { text };
  }, 3);
  const first = of('a');
  for (const text of ['b', 'a', 'b', 'c', 'a']) expect(of(text).text).toBe(text);
  expect(of('a')).toBe(first);
  expect(made).toEqual(['a', 'b', 'c']);
  expect(of('d').text).toBe('d');
  expect(of('a')).not.toBe(first);
  expect(of('c').text).toBe('c');
  expect(made).toEqual(['a', 'b', 'c', 'd', 'a']);
});
