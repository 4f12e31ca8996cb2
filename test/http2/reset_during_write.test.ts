import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const LONGEST_MS = 20_000;

/** Node's session would send empty frames of the upload without end, and take all memory (docs/decisions/0020). */
test('an upload that is given up while its session writes does not freeze the process', async () => {
  const script = join(import.meta.dirname, 'reset_during_write_process.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: LONGEST_MS });
  expect(stdout).toBe('alive');
});
