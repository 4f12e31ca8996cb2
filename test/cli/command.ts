import { execFile } from 'node:child_process';
import { IS_FULL } from '../random.ts';
import { type Running, startProgram } from '../running.ts';
import { MAIN } from './main_file.ts';
import { type Ran, runWarm } from './warm_command.ts';

export type { Ran } from './warm_command.ts';

/**
 * Runs the command to its end, without colours. Short runs of the tests share a process between command lines; the
 * full run starts one for each, as users do.
 */
export function edgeproof(
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const env = { ...process.env, NO_COLOR: '1', ...variables };
  if (!IS_FULL) return runWarm({ args, cwd, env });
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

export type { Running } from '../running.ts';

/** Starts the command. */
export function start(
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Running {
  return startProgram(process.execPath, [MAIN, ...args], cwd, variables);
}
