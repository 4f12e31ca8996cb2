import { expect, test } from 'vitest';
import { weakMemoize, weakMemoizeLast } from '../../src/caches/weak_memoize.ts';

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
