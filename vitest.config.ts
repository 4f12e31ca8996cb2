import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const FILES = 'test/**/*.test.ts';

/** Files that measure memory: what others have left in the heap would be measured, too. */
const MEASURING = globSync(FILES, { cwd: import.meta.dirname }).filter((file) =>
  readFileSync(`${import.meta.dirname}/${file}`, 'utf8').includes('--expose-gc'),
);

export default defineConfig({
  test: {
    setupFiles: ['test/setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    reporters: ['default'],
    // Not the half of the cores that is the default: most tests wait for sockets and processes.
    maxWorkers: availableParallelism(),
    // Loading the sources anew for each file took longer than most files run.
    projects: [
      { extends: true, test: { name: 'shared', include: [FILES], exclude: MEASURING, isolate: false } },
      { extends: true, test: { name: 'alone', include: MEASURING } },
    ],
  },
});
