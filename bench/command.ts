import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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
