import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Reads 100 MiB in a process of its own, and prints the most that was held, in MiB. */
const READER = `
import { limitHeap } from './src/cli/heap_limit.ts';
import { countGarbage } from './src/io/young_garbage.ts';
if (process.argv[1] === 'limited') limitHeap();
let most = 0;
for (let read = 0; read < 1_600; read++) {
  countGarbage(Buffer.allocUnsafeSlow(65_536).length);
  most = Math.max(most, process.memoryUsage().arrayBuffers);
}
console.log(most / 2 ** 20);
`;

function heldMiB(limit: 'limited' | 'unlimited'): number {
  const args = ['--input-type=module', '--eval', READER, limit];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

test('what was read and passed on does not accumulate', () => {
  expect(heldMiB('unlimited')).toBeGreaterThan(20);
  expect(heldMiB('limited')).toBeLessThan(8);
});

/** Sets the flags of a server, and prints cached code: as it is cached, and with these flags. */
const CACHING = `
import { Script } from 'node:vm';
import { limitHeap } from './src/cli/heap_limit.ts';
import { withOriginalFlags } from './src/cli/v8_flags.ts';
limitHeap();
const made = () => new Script('1 + 1').createCachedData().toString('base64');
let original;
withOriginalFlags(() => (original = made()));
// Cached code begins with the flags that it is for.
console.log(JSON.stringify({ original, own: made() }));
`;
/** Prints whether V8 rejects cached code at a start. */
const STARTING = `
import { Script } from 'node:vm';
const cachedData = Buffer.from(process.argv[1], 'base64');
console.log(new Script('1 + 1', { cachedData }).cachedDataRejected);
`;

function run(script: string, ...args: readonly string[]): unknown {
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', script, ...args], { encoding: 'utf8' }),
  );
}

test('code that a server has cached is accepted at its next start', () => {
  const { original, own } = run(CACHING) as { readonly original: string; readonly own: string };
  expect(run(STARTING, original)).toBe(false);
  expect(run(STARTING, own)).toBe(true);
});

/** Prints the size of the young generation in MiB: after the start in one go, under load, after a pause, and under load again. */
const WORKING = `
import { setImmediate, setTimeout } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { limitHeap } from './src/cli/heap_limit.ts';
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const made = (count) => Array.from({ length: count }, (_, index) => ({ index }));
const size = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20;
let kept;
async function work() {
  for (let turn = 0; turn < 300 || (turn < 5_000 && size() < 4.5); turn++) {
    kept = made(20_000);
    await setImmediate();
  }
  return size();
}
limitHeap();
kept = made(300_000);
const started = size();
const worked = await work();
// V8 shrinks it when it has been idle, which is a matter of the last seconds.
for (let pause = 0; pause < 50 && size() > 2; pause++) {
  await setTimeout(100);
  collect();
}
console.log(JSON.stringify({ started, worked, paused: size(), again: await work(), kept: kept.length }));
`;

test('the young generation has the same size under each load, and does not grow at the start', () => {
  const { started, worked, paused, again } = run(WORKING) as Readonly<Record<string, number>>;
  expect(started).toBeLessThanOrEqual(2);
  expect(paused).toBeLessThanOrEqual(2);
  for (const size of [worked, again]) {
    expect(size).toBeGreaterThan(4.5);
    expect(size).toBeLessThanOrEqual(8);
  }
});
