import { execFile } from 'node:child_process';
import { type Ran, edgeproof } from '../command.ts';
import { MAIN } from '../main_file.ts';

/** Runs the command to its end, without colours; `lines` is its input. */
export function run(args: readonly string[], cwd: string, lines?: readonly string[]): Promise<Ran> {
  if (lines === undefined) return edgeproof(args, cwd);
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1' };
    const child = execFile(process.execPath, [MAIN, ...args], { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end(lines.map((line) => `${line}\n`).join(''));
  });
}
