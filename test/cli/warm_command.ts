import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandLine } from './warm_process.ts';

/** What a command did. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const PROCESS = fileURLToPath(new URL('warm_process.ts', import.meta.url));

let running: ChildProcess | null = null;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command from its sources in a process that has run others before. Starting Node and loading the verb take
 * most of the time of a short command line; here this happens once.
 */
export function runWarm(line: CommandLine): Promise<Ran> {
  const result = last.then(() => answerTo(line));
  last = result.catch(() => undefined);
  return result;
}

async function answerTo(line: CommandLine): Promise<Ran> {
  const child = (running ??= newProcess());
  const over = new AbortController();
  const { signal } = over;
  try {
    const answer = once(child, 'message', { signal }) as Promise<[Ran]>;
    const exit = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`the process of \`${line.args.join(' ')}\` ended with ${code}`);
    });
    child.send(line);
    return (await Promise.race([answer, exit]))[0];
  } finally {
    over.abort();
  }
}

function newProcess(): ChildProcess {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-warm-'));
  // Files, because some verbs write to the descriptor and not to the stream.
  const files = ['stdout', 'stderr'].map((name) => join(folder, name));
  const [stdout, stderr] = files.map((file) => openSync(file, 'a'));
  const child = fork(PROCESS, files, { stdio: ['ignore', stdout, stderr, 'ipc'] });
  closeSync(stdout!);
  closeSync(stderr!);
  child.once('exit', () => (running = null));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  // It ends when the worker of the tests ends, which does not wait for it.
  child.unref();
  child.channel?.unref();
  return child;
}
