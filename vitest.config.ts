import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { IS_FULL } from './test/random.ts';

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

/**
 * Files that take long and find what edits seldom break: what is packed, which objects stay in memory, how work grows with the
 * size of a configuration. `npm run test:full` runs them.
 */
const FULL_RUN = [
  'test/bench/soak.test.ts',
  'test/browser/twins.test.ts',
  'test/control/cost_of_a_write.test.ts',
  'test/control/memory.test.ts',
  'test/control/stalls.test.ts',
  'test/coverage/mistakes.test.ts',
  'test/edge/large_parts_ahead.test.ts',
  'test/edge/swap_memory.test.ts',
  'test/integrations/testing/runners.test.ts',
  'test/package/action.test.ts',
  'test/package/shipping.test.ts',
  'test/package/tarball.test.ts',
  'test/package/types.test.ts',
  'test/tunnel/many_tunnels.test.ts',
  'test/tunnel/reconnect.test.ts',
];
/** What the command line filters files by. */
const NAMED = process.argv.slice(2).filter((word) => !/^(?:run|list|watch|-.*)$/.test(word));
/** Those that this run leaves out; a file that is named runs in any case. */
const LEFT_OUT = IS_FULL ? [] : FULL_RUN.filter((file) => !NAMED.some((word) => file.includes(word)));
if (LEFT_OUT.length > 0 && !NAMED.includes('tidy'))
  process.stderr.write(`left to npm run test:full: ${LEFT_OUT.join(', ')}\n`);

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
          exclude: [...ALONE, ...TIDY, ...LEFT_OUT],
          isolate: false,
          // Node loads the sources itself, which takes a sixth less CPU.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, exclude: LEFT_OUT } },
      { extends: true, test: { name: 'tidy', include: TIDY } },
    ],
  },
});
