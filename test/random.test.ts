import * as fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const HELPER = new URL('./random.ts', import.meta.url).href;

/** What the helper gives in a process with this environment. */
function given(env: Readonly<Record<string, string>>): unknown {
  const code = `import { runs, sized, seeded } from '${HELPER}'; const random = seeded(3);
    console.log(JSON.stringify([runs(2000), runs(4), sized(2000, 5), random()]))`;
  const { EDGEPROOF_TEST_SIZE: _size, EDGEPROOF_TEST_SEED: _seed, ...rest } = process.env;
  const args = ['--input-type=module', '-e', code];
  return JSON.parse(execFileSync(process.execPath, args, { env: { ...rest, ...env }, encoding: 'utf8' }));
}

test('one variable sizes all random runs', () => {
  expect(given({})).toMatchObject([50, 4, { numRuns: 50, seed: 5 }, expect.any(Number)]);
  expect(given({ EDGEPROOF_TEST_SIZE: 'large' })).toMatchObject([
    200,
    4,
    { numRuns: 200, seed: 5 },
    expect.any(Number),
  ]);
  expect(given({ EDGEPROOF_TEST_SIZE: '10' })).toMatchObject([
    20_000,
    40,
    { numRuns: 20_000, seed: 5 },
    expect.any(Number),
  ]);
  expect(() => given({ EDGEPROOF_TEST_SIZE: 'lots' })).toThrow(/small, large or a number/);
});

test('another variable gives other inputs, the same each time', () => {
  const other = given({ EDGEPROOF_TEST_SEED: '7' });
  expect(other).toEqual(given({ EDGEPROOF_TEST_SEED: '7' }));
  expect(other).not.toEqual(given({}));
});

test('a property that names no size of its own has the common one', () => {
  const { numRuns, seed } = fc.readConfigureGlobal();
  expect(numRuns).toBeGreaterThan(0);
  expect(seed).toBeTypeOf('number');
});
