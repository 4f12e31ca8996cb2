import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Reads 100 MiB in a process of its own, and prints the most that was held, in MiB. */
const READER = `
import { limitHeap } from './src/cli/heap_limit.ts';
import { countRead } from './src/io/read_garbage.ts';
if (process.argv[1] === 'limited') limitHeap();
let most = 0;
for (let read = 0; read < 1_600; read++) {
  countRead(Buffer.allocUnsafeSlow(65_536).length);
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
