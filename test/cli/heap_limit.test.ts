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

/** Sets the flags of a server until its heap has grown, and prints cached code: as it is cached, and with these flags. */
const CACHING = `
import { setTimeout } from 'node:timers/promises';
import { Script } from 'node:vm';
import { limitHeap } from './src/cli/heap_limit.ts';
import { withOriginalFlags } from './src/cli/v8_flags.ts';
limitHeap();
const made = () => new Script('1 + 1').createCachedData().toString('base64');
const before = made();
const kept = Array.from({ length: 300_000 }, (_, index) => ({ index }));
// Cached code begins with the flags that it is for.
for (let looks = 0; looks < 500 && made() === before; looks++) await setTimeout(20);
let original;
withOriginalFlags(() => (original = made()));
console.log(JSON.stringify({ original, own: made(), kept: kept.length }));
`;
/** Prints whether V8 rejects cached code at a start. */
const STARTING = `
import { Script } from 'node:vm';
const cachedData = Buffer.from(process.argv[1], 'base64');
console.log(new Script('1 + 1', { cachedData }).cachedDataRejected);
`;

test('code that a server has cached is accepted at its next start', () => {
  const run = (script: string, ...args: readonly string[]): unknown =>
    JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '--eval', script, ...args], {
        encoding: 'utf8',
      }),
    );
  const { original, own } = run(CACHING) as { readonly original: string; readonly own: string };
  expect(run(STARTING, original)).toBe(false);
  expect(run(STARTING, own)).toBe(true);
});
