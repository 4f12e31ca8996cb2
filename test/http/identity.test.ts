import { expect, test } from 'vitest';
import { weakMemoize } from '../../src/http/weak_memoize.ts';

test('what comes again is made twice at most, and what is equal is not the same', () => {
  let made = 0;
  const of = weakMemoize((list: readonly string[]) => `${++made} ${list.join()}`);
  const list = ['a', '1'];
  expect([of(list), of(list), of(list), of(list)]).toEqual(['1 a,1', '2 a,1', '2 a,1', '2 a,1']);
  expect(of(['a', '1'])).toBe('3 a,1');
  expect(of(list)).toBe('2 a,1');
});

test('what does not come again does not push out what does', () => {
  const of = weakMemoize((list: readonly string[]) => ({ list }));
  const kept = ['a', '1'];
  of(kept);
  const before = of(kept);
  for (let turn = 0; turn < 1_000; turn++) of([String(turn), '1']);
  expect(of(kept)).toBe(before);
});
