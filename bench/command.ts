import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { quantile } from './measure.ts';

/** The file that starts the command. Users start the package; if it was not built, the sources are started, which takes longer. */
export function builtOrSource(): string {
  const built = fileURLToPath(new URL('../dist/lib/main.cjs', import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
}

/** What a process took from its start to its end. */
interface Taken {
  readonly ms: number;
  readonly cpuMs: number;
  /** Largest resident set, in MiB. */
  readonly mib: number;
}

/** Loaded before the command: says what its process took, to a pipe that the command does not use. */
const REPORT = `import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('exit', () => {
  const used = process.resourceUsage();
  writeSync(3, [used.maxRSS, used.userCPUTime + used.systemCPUTime].join(' '));
});`;

/** Runs the command in a folder; an exit code that is not expected throws. */
export function ranCommand(cwd: string, args: readonly string[], exitCodes: readonly number[] = [0]): Taken {
  const preload = `data:text/javascript,${encodeURIComponent(REPORT)}`;
  const began = performance.now();
  const { status, stderr, output } = spawnSync(
    process.execPath,
    ['--import', preload, builtOrSource(), ...args],
    {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
  const ms = performance.now() - began;
  if (!exitCodes.includes(status ?? -1)) throw new Error(`${args[0]} ended with ${status}: ${stderr}`);
  const [kib = 0, micros = 0] = output[3]!.split(' ').map(Number);
  return { ms, cpuMs: micros / 1_000, mib: kib / 1_024 };
}

function spawnedMs(args: readonly string[], cwd: string): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env: { ...process.env, NO_COLOR: '1' },
  });
  if (status !== 0) throw new Error(`exit code ${status}: ${stderr.toString()}`);
  return performance.now() - began;
}

/**
 * Medians of starts of the command, in turns with those of Node without a program. Nothing is loaded before the
 * command: a preload takes a fifth of a short one. Compiled code is cached before.
 */
export function startMs(
  args: readonly string[],
  cwd: string,
  rounds: number,
): { readonly node: number; readonly ours: number } {
  const command = [builtOrSource(), ...args];
  for (let turn = 0; turn < 2; turn++) spawnedMs(command, cwd);
  const times = Array.from({ length: rounds }, () => ({
    node: spawnedMs(['-e', '0'], cwd),
    ours: spawnedMs(command, cwd),
  }));
  const middle = (which: 'node' | 'ours'): number =>
    quantile(
      times.map((each) => each[which]),
      0.5,
    );
  return { node: middle('node'), ours: middle('ours') };
}
