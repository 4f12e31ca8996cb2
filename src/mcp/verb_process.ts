import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { RefusedInput, outermost } from './read_access.ts';

/** A verb of the command line to run. */
export interface VerbCall {
  readonly args: readonly string[];
  /** Text for standard input. */
  readonly input?: string;
  /** The working folder. */
  readonly folder: string;
  /** The folders that it may read. */
  readonly folders: readonly string[];
  readonly signal: AbortSignal;
}

export interface VerbResult {
  readonly exitCode: number;
  readonly out: string;
  readonly problems: string;
}

/** More output ends the process. */
const OUTPUT_BYTES = 8 * 2 ** 20;
const HEAP_MB = 768;
const TIMEOUT_MS = 60_000;
/** Processes at a time, and calls that wait for one. */
const RUNNING = 2;
const WAITING = 16;

/**
 * Runs verbs as processes of this program. Node's permission model keeps them from writing, from starting programs and
 * from opening sockets; they can read the allowed folders and the program itself.
 */
export class VerbProcesses {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** Throws RefusedInput if too many calls wait, or the call ends without a result. */
  async run(call: VerbCall): Promise<VerbResult> {
    if (this.#running >= RUNNING) await this.#turn();
    else this.#running++;
    try {
      return await finished(call);
    } finally {
      // The place of an ended call goes to the next one directly: a call that comes meanwhile cannot take it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= WAITING)
      throw new RefusedInput(`${WAITING} calls wait already; wait for their results`);
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }
}

function finished(call: VerbCall): Promise<VerbResult> {
  const { args, input = '', folder, signal } = call;
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw new RefusedInput('the call was cancelled');
    const { program, before, variables } = restricted(call);
    const child = spawn(program, [...before, ...args], { cwd: folder, env: variables, stdio: 'pipe' });
    const output = { out: '', problems: '' };
    let bytes = 0;
    let refusal: string | null = null;
    const stop = (reason: string): void => {
      refusal ??= reason;
      child.kill('SIGKILL');
    };
    const cancel = (): void => stop('the call was cancelled');
    const timer = setTimeout(() => stop(`no result after ${TIMEOUT_MS / 1_000} s`), TIMEOUT_MS);
    signal.addEventListener('abort', cancel, { once: true });
    for (const [name, stream] of [
      ['out', child.stdout],
      ['problems', child.stderr],
    ] as const)
      stream.setEncoding('utf8').on('data', (text: string) => {
        bytes += text.length;
        if (bytes > OUTPUT_BYTES) stop('the result is too large; name fewer files, or a smaller one');
        else output[name] += text;
      });
    // A process that has ended does not read.
    child.stdin.on('error', () => undefined).end(input);
    child.once('error', (error) => reject(error));
    child.once('close', (exitCode) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      if (refusal !== null) reject(new RefusedInput(refusal));
      else if (exitCode === null)
        reject(new RefusedInput('the process ended early; it may need more memory'));
      else resolve({ exitCode, ...output });
    });
  });
}

/** How this program is started with restrictions. */
function restricted({ folders }: VerbCall) {
  // A command is often a link, whose folder is not readable.
  const main = realpathSync(process.argv[1]!);
  const readable = outermost([...programFolders(main), ...folders]);
  const options = readable.map((path) => `--allow-fs-read=${path}`);
  return {
    program: process.execPath,
    before: ['--permission', `--max-old-space-size=${HEAP_MB}`, ...options, main],
    // Variables of the user, which `${env:…}` would read, are not passed on.
    variables: { PATH: process.env['PATH'], NO_COLOR: '1' },
  };
}

/** The folder of the package with the libraries beside it, or the folder with its sources. */
function programFolders(main: string): string[] {
  const libraries = `${sep}node_modules${sep}`;
  const at = main.indexOf(libraries);
  return at >= 0 ? [main.slice(0, at + libraries.length - 1)] : [dirname(dirname(dirname(main)))];
}
