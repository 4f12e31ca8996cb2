import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const VERBS = fileURLToPath(new URL('verbs.ts', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a verb to its end, without colours; `lines` are what is typed. */
export function run(args: readonly string[], cwd: string, lines: readonly string[] = []): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1' };
    const child = execFile(process.execPath, [VERBS, ...args], { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end(lines.map((line) => `${line}\n`).join(''));
  });
}
