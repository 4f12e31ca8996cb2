import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { IS_FULL, SEED, SIZE } from './test/random.ts';

const FILES = 'test/**/*.test.ts';

/** The rules for the tree itself: `npm run check` runs them, so `npm test` does not. */
const TIDY = ['test/tidy.test.ts'];

/**
 * Files that measure memory, or count objects or calls: what others have left in the heap would be measured, and searched,
 * too, modules that others have loaded are not counted, and counting slows what the same worker runs later.
 */
const ALONE = filesWith(/--expose-gc|arrayBuffers|queryObjects|alive\.ts'|visit(?:s|ed)\.ts'/);
/**
 * Files that start processes. A worker that has run hundreds of other files has a large heap, and starting a process from it took
 * up to a third of a second: the new process shares all its pages, and each is copied when it is next written.
 */
const STARTING = filesWith(
  /node:child_process|\/(?:chromium|client|cluster|command|own_nats|program|ran|running|warm_command)\.ts'/,
);
/** Files that replace functions of modules, or whose modules a bundler accepts and Node does not: Vite loads their modules. */
const BY_VITE = filesWith(/spy: true|src\/browser\/url\.ts'/);

/**
 * Files that take long and find what edits seldom break: what is packed, which objects stay in memory, how work grows with the
 * size of a configuration, what a solver says of random pairs, what floods, kills and peers that read nothing leave behind,
 * planted faults, threads and shards, second ways of an SDK, independent implementations of what has tests of its own.
 * `npm run test:full` runs them.
 */
const FULL_RUN = [
  'test/analysis/bounds.test.ts',
  'test/analysis/dead_rules.test.ts',
  'test/analysis/gated.test.ts',
  'test/analysis/oracle.test.ts',
  'test/analysis/planted_mistakes.test.ts',
  'test/analysis/rare_features.test.ts',
  'test/analysis/rewrites.test.ts',
  'test/analysis/terms.test.ts',
  'test/analysis/texts.test.ts',
  'test/auth/many_pending.test.ts',
  'test/auth/saml/peers.test.ts',
  'test/auth/seen_users.test.ts',
  'test/bench/soak.test.ts',
  'test/benchmark/meter.test.ts',
  'test/benchmark/statistics.test.ts',
  'test/browser/engine.test.ts',
  'test/browser/parts.test.ts',
  'test/browser/twins.test.ts',
  'test/cel/differential.test.ts',
  'test/cel/limits.test.ts',
  'test/cli/bench_verb.test.ts',
  'test/cli/decider_thread.test.ts',
  'test/cli/deliver.test.ts',
  'test/cli/ending_programs.test.ts',
  'test/cli/event_queue.test.ts',
  'test/cli/examples.test.ts',
  'test/cli/failing_workers.test.ts',
  'test/cli/faults.test.ts',
  'test/cli/found_files.test.ts',
  'test/cli/heap_limit.test.ts',
  'test/cli/missing_upstreams.test.ts',
  'test/cli/named_files.test.ts',
  'test/cli/otlp.test.ts',
  'test/cli/parsed_once.test.ts',
  'test/cli/request_log.test.ts',
  'test/cli/serve_workers.test.ts',
  'test/cli/shards.test.ts',
  'test/cli/shared_workers.test.ts',
  'test/cli/snapshots.test.ts',
  'test/cli/trust_and_cert.test.ts',
  'test/cli/whole_output.test.ts',
  'test/cli/worker_events.test.ts',
  'test/control/cluster_faults.test.ts',
  'test/control/cost_of_a_write.test.ts',
  'test/control/edge_file_round_trip.test.ts',
  'test/control/incremental.test.ts',
  'test/control/kill.test.ts',
  'test/control/lock_out.test.ts',
  'test/control/memory.test.ts',
  'test/control/mutated_requests.test.ts',
  'test/control/nodes.test.ts',
  'test/control/permissions_of_operations.test.ts',
  'test/control/ssh_openssh.test.ts',
  'test/control/stalls.test.ts',
  'test/control/store_copy.test.ts',
  'test/coverage/agents.test.ts',
  'test/coverage/cannot_happen.test.ts',
  'test/coverage/change_scope.test.ts',
  'test/coverage/fixture_memory.test.ts',
  'test/coverage/gates_and_connections.test.ts',
  'test/coverage/jobs.test.ts',
  'test/coverage/mistakes.test.ts',
  'test/dev_idp/production_file.test.ts',
  'test/edge/frozen_config.test.ts',
  'test/edge/large_parts_ahead.test.ts',
  'test/edge/swap_memory.test.ts',
  'test/editing/read_again.test.ts',
  'test/events/destinations/files_and_queues.test.ts',
  'test/filters/planted_filter.test.ts',
  'test/http1/client_leaves_while_paused.test.ts',
  'test/http1/large_heads.test.ts',
  'test/http1/lent_content.test.ts',
  'test/http1/streaming.test.ts',
  'test/http1/upload_memory.test.ts',
  'test/http1/websocket/unread.test.ts',
  'test/http2/closed_sessions.test.ts',
  'test/http2/early_response.test.ts',
  'test/http2/frame_oracle.test.ts',
  'test/http2/half_heads.test.ts',
  'test/http2/promoted_objects.test.ts',
  'test/http2/reads_and_resets.test.ts',
  'test/http2/reset_during_write.test.ts',
  'test/inspector/cost.test.ts',
  'test/inspector/feed.test.ts',
  'test/inspector/hostile.test.ts',
  'test/integrations/testing/runners.test.ts',
  'test/io/direct_writer.test.ts',
  'test/io/promoted_objects.test.ts',
  'test/io/shared_reads.test.ts',
  'test/io/write_buffer.test.ts',
  'test/lsp/cases.test.ts',
  'test/lsp/hostile_client.test.ts',
  'test/lsp/kept_facts.test.ts',
  'test/lsp/positions.test.ts',
  'test/lsp/random_edits.test.ts',
  'test/mcp/repairs.test.ts',
  'test/package/action.test.ts',
  'test/package/shipping.test.ts',
  'test/package/tarball.test.ts',
  'test/package/types.test.ts',
  'test/playground/add_case.test.ts',
  'test/playground/explanations.test.ts',
  'test/policy/document/fuzz.test.ts',
  'test/project_files/mutants.test.ts',
  'test/proof/verify.test.ts',
  'test/regex/linear_time.test.ts',
  'test/replay/exchange_notes.test.ts',
  'test/replay/jobs.test.ts',
  'test/replay/misshapen.test.ts',
  'test/reports/pages.test.ts',
  'test/server/closed_output.test.ts',
  'test/server/faults/attacks.test.ts',
  'test/server/faults/fuzz.test.ts',
  'test/server/tls/former_contexts.test.ts',
  'test/server/tls/left_connections.test.ts',
  'test/shared_state/redis_verb.test.ts',
  'test/simulator/nodes/document.test.ts',
  'test/simulator/nodes/model.test.ts',
  'test/simulator/nodes/sessions.test.ts',
  'test/simulator/planted_everywhere.test.ts',
  'test/simulator/planted_faults.test.ts',
  'test/tunnel/carrying.test.ts',
  'test/tunnel/hostile.test.ts',
  'test/tunnel/killed.test.ts',
  'test/tunnel/limits.test.ts',
  'test/tunnel/many_tunnels.test.ts',
  'test/tunnel/options.test.ts',
  'test/tunnel/reconnect.test.ts',
  'test/tunnel/sdk.test.ts',
  'test/tunnel/sdk_ways.test.ts',
  'test/tunnel/simulated.test.ts',
  'test/tunnel/simulated_endpoints.test.ts',
  'test/tunnel/small_frames.test.ts',
];
/** Files that take much longer than their size says, by which a first run sorts them: they begin before the others. */
const LONG = [
  'inspector/page',
  'control/cluster_faults',
  'cli/shards',
  'package/personas',
  'mcp/conformance',
  'reports/pages',
  'cli/examples',
  'cli/faults',
  'mcp/tools',
  'filters/planted_filter',
  'lsp/navigation',
  'analysis/oracle',
  'replay/jobs',
  'events/destinations/contract',
].map((name) => `/test/${name}.test.ts`);

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // By project: those run one after the other.
    const groups = Map.groupBy(await super.sort(files), ({ project }) => project);
    return [...groups.values()].flatMap((group) =>
      [true, false].flatMap((isLong) =>
        group.filter(({ moduleId }) => LONG.some((name) => moduleId.endsWith(name)) === isLong),
      ),
    );
  }
}

/** What the command line filters files by. */
const NAMED = process.argv.slice(2).filter((word) => !/^(?:run|list|watch|-.*)$/.test(word));
/** Whether a file is named itself, and not only its folder. */
const isNamed = (file: string): boolean => NAMED.some((word) => word.includes(basename(file, '.test.ts')));
/** Those that this run leaves out. */
const LEFT_OUT = IS_FULL ? [] : FULL_RUN.filter((file) => !isNamed(file));
if (!NAMED.includes('tidy')) {
  if (LEFT_OUT.length > 0) process.stderr.write(`left to npm run test:full: ${LEFT_OUT.join(', ')}\n`);
  process.stderr.write(`random tests: EDGEPROOF_TEST_SIZE=${SIZE} EDGEPROOF_TEST_SEED=${SEED}\n`);
}

/** Node loads the sources itself, which takes a sixth less CPU, and a third less where each file loads them anew. */
const BY_NODE = { viteModuleRunner: false, nodeLoader: false };
/** Loading the sources anew for each file took longer than most files run. */
const BY_SHARED_WORKERS = { isolate: false, experimental: BY_NODE };

/** Temporary files of all tests, and of what they start; nothing of it is left. */
const TEMPORARY = mkdtempSync(join(tmpdir(), 'edgeproof-tests-'));
// PostgreSQL, which tests start as a user of its own, has to find its folder.
chmodSync(TEMPORARY, 0o711);
process.once('exit', () => rmSync(TEMPORARY, { recursive: true, force: true, maxRetries: 3 }));

function filesWith(text: RegExp): string[] {
  const root = import.meta.dirname;
  return globSync(FILES, { cwd: root }).filter((file) => text.test(readFileSync(`${root}/${file}`, 'utf8')));
}

export default defineConfig({
  test: {
    setupFiles: ['test/setup.ts'],
    // Most of what a test makes is soon garbage: with more room for it, a run takes a tenth less CPU.
    execArgv: ['--max-semi-space-size=64'],
    // Processes that tests start load the sources in half the time.
    env: {
      NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/edgeproof/compiled`,
      TMPDIR: TEMPORARY,
    },
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
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: [FILES],
          exclude: [...STARTING, ...ALONE, ...BY_VITE, ...TIDY, ...LEFT_OUT],
          ...BY_SHARED_WORKERS,
        },
      },
      {
        extends: true,
        test: {
          name: 'starting',
          include: STARTING,
          exclude: [...ALONE, ...BY_VITE, ...LEFT_OUT],
          ...BY_SHARED_WORKERS,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, exclude: LEFT_OUT, experimental: BY_NODE } },
      { extends: true, test: { name: 'by vite', include: BY_VITE, exclude: LEFT_OUT } },
      { extends: true, test: { name: 'tidy', include: TIDY } },
    ],
  },
});
