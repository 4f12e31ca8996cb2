import { expect, test } from 'vitest';
import { weakMemoize } from '../../src/http/weak_memoize.ts';

test('results for a recurring object are made at most twice, and equal objects are not the same', () => {
  let made = 0;
  const of = weakMemoize((list: readonly string[]) => `${++made} ${list.join()}`);
  const list = ['a', '1'];
  expect([of(list), of(list), of(list), of(list)]).toEqual(['1 a,1', '2 a,1', '2 a,1', '2 a,1']);
  expect(of(['a', '1'])).toBe('3 a,1');
  expect(of(list)).toBe('2 a,1');
});

test('objects that do not recur do not evict those that do', () => {
  const of = weakMemoize((list: readonly string[]) => ({ list }));
  const kept = ['a', '1'];
  of(kept);
  const before = of(kept);
  for (let turn = 0; turn < 1_000; turn++) of([String(turn), '1']);
  expect(of(kept)).toBe(before);
});
