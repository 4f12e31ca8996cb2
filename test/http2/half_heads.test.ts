import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Node aborts a process in which it collects a session before a stream whose head was half received. */
it.each([
  ['an upstream whose heads never end', 'half_heads_process.ts', '15 of 15 are refused'],
  ['a client that reads nothing, and leaves within its trailers', 'half_trailers_process.ts', 'alive'],
])('%s does not end the process', async (_name, file, said) => {
  const script = join(import.meta.dirname, file);
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script]);
  expect(stdout).toBe(said);
});
