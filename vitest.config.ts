import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const FILES = 'test/**/*.test.ts';

/** The rules for the tree itself: `npm run check` runs them, so `npm test` does not. */
const TIDY = ['test/tidy.test.ts'];

/**
 * Files that measure memory, or count objects or calls: what others have left in the heap would be measured, and searched,
 * too, modules that others have loaded are not counted, and counting slows what the same worker runs later. Files whose modules
 * a bundler accepts and Node does not run alone, too, because Vite loads the modules there.
 */
const ALONE = globSync(FILES, { cwd: import.meta.dirname }).filter((file) =>
  /--expose-gc|queryObjects|alive\.ts'|visit(?:s|ed)\.ts'|spy: true|src\/browser\/url\.ts'/.test(
    readFileSync(`${import.meta.dirname}/${file}`, 'utf8'),
  ),
);

export default defineConfig({
  test: {
    setupFiles: ['test/setup.ts'],
    // Most of what a test makes is soon garbage: with more room for it, a run takes a tenth less CPU.
    execArgv: ['--max-semi-space-size=64'],
    // Processes that tests start load the sources in half the time.
    env: { NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/edgeproof/compiled` },
    // The large run does up to twenty times the work, beside other files.
    testTimeout: process.env['EDGEPROOF_TEST_SIZE'] === 'large' ? 300_000 : 120_000,
    hookTimeout: 300_000,
    // CI decides about a whole submission. A test that needed its second try is printed as retried, and is to be looked into.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    // The default of a second is shorter than a stall of a busy machine.
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default'],
    // Not the half of the cores that is the default: many tests wait for sockets and processes.
    maxWorkers: availableParallelism() + 1,
    // Loading the sources anew for each file took longer than most files run.
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: [FILES],
          exclude: [...ALONE, ...TIDY],
          isolate: false,
          // Node loads the sources itself, which takes a sixth less CPU.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
      { extends: true, test: { name: 'tidy', include: TIDY } },
    ],
  },
});
