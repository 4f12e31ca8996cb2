import { type ChildProcess, spawn } from 'node:child_process';

/** A program while it runs. */
export interface Running {
  readonly process: ChildProcess;
  /** Settles with the first output that matches, from the beginning. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal and settles with the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
  readonly output: () => string;
}

/** Starts a program in a folder, without colours. */
export function startProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Running {
  const env = { ...process.env, NO_COLOR: '1', ...variables };
  const child = spawn(program, args, { cwd, env });
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
