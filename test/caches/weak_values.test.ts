import { expect, test } from 'vitest';
import { weakValues } from '../../src/caches/weak_values.ts';

test('equal texts share a value, others do not', () => {
  const texts: string[] = [];
  const shared = weakValues((text) => {
    texts.push(text);
    return { text };
  });
  const one = shared('a');
  expect(shared('a')).toBe(one);
  expect(shared('b')).toEqual({ text: 'b' });
  expect(texts).toEqual(['a', 'b']);
});

test('values in use survive a sweep', () => {
  const shared = weakValues((text) => ({ text }));
  const kept = Array.from({ length: 1_100 }, (_, at) => shared(String(at)));
  for (const [at, value] of kept.entries()) expect(shared(String(at))).toBe(value);
});
