import { readFileSync, truncateSync } from 'node:fs';
import { run } from '../../src/cli/run.ts';

/**
 * Runs command lines one after the other in one process, as the command would. `warm_command.ts` starts it, with the
 * files that standard output and standard error go to. Each run begins with the state of a new process: the folder,
 * the environment, the exit code and the listeners.
 */

/** A command line, and the folder and environment that it runs in. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const OUTPUTS = process.argv.splice(2);
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

process.on('message', ({ args, cwd, env }: CommandLine) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = undefined;
  process.argv.splice(2, Infinity, ...args);
  void run(args).then((code) => setImmediate(answer, code));
});

function answer(code: number): void {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  const [stdout, stderr] = OUTPUTS.map((file) => {
    const text = readFileSync(file, 'utf8');
    truncateSync(file);
    return text;
  });
  process.exitCode = undefined;
  process.send!({ code, stdout, stderr });
}

process.on('disconnect', () => process.exit());
