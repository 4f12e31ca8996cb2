import { expect, test } from 'vitest';
import { isRecurring, markRecurring, memoizeRecurring } from '../../src/caches/recurring.ts';

test('what comes again at once is made twice at most, and what is equal is not the same', () => {
  let made = 0;
  const of = memoizeRecurring((list: readonly string[]) => `${++made} ${list.join()}`);
  const list = ['a', '1'];
  expect([of(list), of(list), of(list), of(list)]).toEqual(['1 a,1', '2 a,1', '2 a,1', '2 a,1']);
  expect(of(['a', '1'])).toBe('3 a,1');
  expect(of(list)).toBe('2 a,1');
});

test('what is marked is made once, however much comes between, and what was made of it recurs, too', () => {
  let made = 0;
  const of = memoizeRecurring((list: readonly string[]) => ({ list, number: ++made }));
  const kept = ['a', '1'];
  markRecurring(kept);
  const before = of(kept);
  for (let turn = 0; turn < 1_000; turn++) of([String(turn), '1']);
  expect(of(kept)).toBe(before);
  expect(isRecurring(before)).toBe(true);
  expect(isRecurring(of(['b']))).toBe(false);
});

test('a mark is not seen by who reads the list', () => {
  const list = ['a', '1'];
  markRecurring(list);
  expect(Reflect.ownKeys(list.slice())).toEqual(['0', '1', 'length']);
  expect(Object.keys(list)).toEqual(['0', '1']);
  expect(list).toEqual(['a', '1']);
  expect(structuredClone(list)).toEqual(['a', '1']);
});

test('frozen lists are made something of each time, and functions that are gone leave no more than a few results', () => {
  const frozen = Object.freeze(['a']);
  markRecurring(frozen);
  expect(isRecurring(frozen)).toBe(false);
  const one = memoizeRecurring((list: readonly string[]) => ({ list }));
  expect(one(frozen)).toEqual({ list: ['a'] });
  const list = ['a', '1'];
  markRecurring(list);
  for (let turn = 0; turn < 1_000; turn++) expect(memoizeRecurring(() => ({ turn }))(list)).toEqual({ turn });
  const [kept] = Object.getOwnPropertySymbols(list);
  expect(Reflect.get(list, kept!)).toHaveProperty(
    'length',
    expect.toSatisfy((count: number) => count <= 32),
  );
});

test('only what is kept is prepared for many uses, once', () => {
  const prepared: string[] = [];
  const of = memoizeRecurring(
    (list: readonly string[]) => list.join(),
    (made) => {
      prepared.push(made);
      return `${made}!`;
    },
  );
  const kept = ['a', '1'];
  markRecurring(kept);
  expect([of(kept), of(kept), of(['b', '2']), of(kept)]).toEqual(['a,1!', 'a,1!', 'b,2', 'a,1!']);
  expect(prepared).toEqual(['a,1']);
});
