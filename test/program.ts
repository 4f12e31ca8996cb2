import { execFile } from 'node:child_process';

/** How a program ended, and all that it has written. */
export interface Ended {
  readonly code: number;
  readonly out: string;
}

/** Runs a program in a folder as a user would, out of any other test; the code is -1 where it had none. */
export function ended(program: string, args: readonly string[], folder: string): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1', NODE_TEST_CONTEXT: undefined, VITEST: undefined };
    execFile(program, args, { cwd: folder, env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, out: stdout + stderr });
    });
  });
}
