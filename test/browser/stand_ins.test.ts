import { expect, test } from 'vitest';
import { onLoaded, standIn, withParts } from '../../src/browser/parts.ts';
import { LOADERS } from '../../src/browser/part_loaders.ts';

const loaders = LOADERS as Record<string, () => Promise<Record<string, object>>>;

/** A stand-in for a function of a part of its own, which loads when it is used. */
function stood(part: string, real: object) {
  let loads = 0;
  let fails = 0;
  loaders[part] = () => {
    loads++;
    return fails-- > 0 ? Promise.reject(new Error('offline')) : Promise.resolve({ file: { real } });
  };
  let own: { real: object } | null = null;
  const name = standIn(part, () => own?.real) as never;
  onLoaded(part, 'file', (found) => void (own = found));
  return { name, loads: () => loads, failNext: () => void (fails = 1) };
}

test('what needed a part is done again when it is there, and once only', async () => {
  const { name, loads } = stood('a', (count: number) => count + 1);
  let runs = 0;
  const run = () => withParts(() => Promise.resolve(++runs && (name as (count: number) => number)(1)));
  expect([await run(), runs, loads()]).toEqual([2, 2, 1]);
  expect([await run(), runs, loads()]).toEqual([2, 3, 1]);
});

test('also if what needed it went on without it', async () => {
  const { name } = stood(
    'b',
    class {
      readonly is = 'real';
    },
  );
  const answer = () => {
    try {
      return new (name as new () => { is: string })().is;
    } catch {
      return 'swallowed';
    }
  };
  expect(await withParts(() => Promise.resolve(answer()))).toBe('real');
});

test('a load that fails is reported, and tried again by the next run', async () => {
  const { name, failNext } = stood('c', { value: 7 });
  const run = () => withParts(() => Promise.resolve((name as { value: number }).value));
  failNext();
  await expect(run()).rejects.toThrow('offline');
  expect(await run()).toBe(7);
});

test('a stand-in that comes after its part is the part at once; other errors pass', async () => {
  stood('d', { value: 1 });
  await withParts(() => Promise.resolve((stood('d', { value: 1 }).name as { value: number }).value));
  let late: unknown = null;
  onLoaded('d', 'file', (own) => void (late = own));
  expect(late).toEqual({ real: { value: 1 } });
  await expect(withParts(() => Promise.reject(new Error('own')))).rejects.toThrow('own');
});
