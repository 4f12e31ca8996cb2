import { type ChildProcess, execFile, spawn } from 'node:child_process';
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

/** The command while it runs. */
export interface Running {
  readonly process: ChildProcess;
  /** Settles with the first output that matches, from the beginning. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal and settles with the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
  readonly output: () => string;
}

export function start(
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Running {
  const env = { ...process.env, NO_COLOR: '1', ...variables };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env });
  let text = '';
  const waiting = new Set<() => void>();
  const heard = (chunk: Buffer) => {
    text += chunk.toString();
    for (const look of waiting) look();
  };
  child.stdout.on('data', heard);
  child.stderr.on('data', heard);
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    process: child,
    output: () => text,
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(text);
          if (found === null) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        void ended.then(() => reject(new Error(`ended before ${String(pattern)}:\n${text}`)));
        look();
      }),
    stop: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
