import { expect, test } from 'vitest';
import { weakMemoize, weakMemoizeLast, weakMemoizeRecurring } from '../../src/caches/weak_memoize.ts';

test('what comes again is made twice at most, and what is equal is not the same', () => {
  let made = 0;
  const of = weakMemoizeRecurring((list: readonly string[]) => `${++made} ${list.join()}`);
  const list = ['a', '1'];
  expect([of(list), of(list), of(list), of(list)]).toEqual(['1 a,1', '2 a,1', '2 a,1', '2 a,1']);
  expect(of(['a', '1'])).toBe('3 a,1');
  expect(of(list)).toBe('2 a,1');
});

test('what does not come again does not push out what does', () => {
  const of = weakMemoizeRecurring((list: readonly string[]) => ({ list }));
  const kept = ['a', '1'];
  of(kept);
  const before = of(kept);
  for (let turn = 0; turn < 1_000; turn++) of([String(turn), '1']);
  expect(of(kept)).toBe(before);
});

test('an object is made something of once', () => {
  let made = 0;
  const of = weakMemoize((list: readonly string[]) => `${++made} ${list.join()}`);
  const list = ['a'];
  expect([of(list), of(list), of(['a']), of(list)]).toEqual(['1 a', '1 a', '2 a', '1 a']);
});

test('it is made again when a circumstance is another than the last time', () => {
  let made = 0;
  const of = weakMemoizeLast((config: object, [id, child]: readonly [string, object]) => ({
    config,
    id,
    child,
    at: ++made,
  }));
  const config = {};
  const child = {};
  const first = of(config, ['a', child]);
  expect(of(config, ['a', child])).toBe(first);
  expect(of(config, ['b', child]).at).toBe(2);
  expect(of(config, ['b', {}]).at).toBe(3);
  expect(of(config, ['a', child])).toEqual({ config, id: 'a', child, at: 4 });
});
