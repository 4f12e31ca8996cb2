import { execFile } from 'node:child_process';
import { type Running, startProgram } from '../running.ts';
import { MAIN } from './main_file.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command to its end, without colours. */
export function edgeproof(
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1', ...variables };
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
