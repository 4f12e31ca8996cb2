import { fstatSync, writeSync } from 'node:fs';
import { failureText } from '../diagnostics/system_failure.ts';
import { EXIT } from './exit_codes.ts';

/**
 * Standard output or standard error. Texts are written to the descriptor at once, because it takes Node 4 ms to make its
 * stream: a tenth of a small check. Verbs that serve take the stream, which does not wait for a slow reader; then all
 * texts go through it, in their order.
 */
export class Output {
  readonly #descriptor: 1 | 2;
  #stream: NodeJS.WriteStream | null = null;
  #onError: (error: NodeJS.ErrnoException) => void;

  constructor(descriptor: 1 | 2, onError: (error: NodeJS.ErrnoException) => void) {
    this.#descriptor = descriptor;
    this.#onError = onError;
  }

  write(text: string): void {
    if (this.#stream !== null || NEEDS_STREAMS || isStreamWaiting()) this.stream().write(text);
    else this.writeNow(text);
  }

  /** Writes to the descriptor, and waits for a slow reader: no text is kept in memory. */
  writeNow(text: string): void {
    let rest: Buffer = Buffer.from(text);
    try {
      while (rest.length > 0) rest = rest.subarray(writtenBytes(this.#descriptor, rest));
    } catch (error) {
      this.#onError(error as NodeJS.ErrnoException);
    }
  }

  get isTTY(): boolean {
    return fstatSync(this.#descriptor).isCharacterDevice() && this.stream().isTTY;
  }

  get hasFailed(): boolean {
    return this.#stream !== null && this.#stream.errored !== null;
  }

  stream(): NodeJS.WriteStream {
    if (this.#stream === null) {
      this.#stream = this.#descriptor === 1 ? process.stdout : process.stderr;
      this.#stream.on('error', (error: NodeJS.ErrnoException) => this.#onError(error));
    }
    return this.#stream;
  }

  /** Lets a server continue when the reader has gone. Each write then fails on its own. */
  ignoreErrors(): void {
    this.#onError = ignore;
    this.stream();
  }
}

/** Consoles of Windows take texts only through their stream. */
const NEEDS_STREAMS = process.platform === 'win32';
const PAUSE_MS = 1;

/** A pipe may be full and say so, if another process has set it so: then it is tried again. */
function writtenBytes(descriptor: number, bytes: Buffer): number {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    return 0;
  }
}

/** Whether a stream of Node has not written all yet, as after `console.log` in a program of the user. */
function isStreamWaiting(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.endsWith('WriteWrap'));
}

/** Ends a verb whose output cannot be written: silently if the reader has gone, as with `| head`. */
function exitOnError(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') stderr.write(`cannot write to standard output: ${failureText(error)}\n`);
  process.exit(EXIT.runtime);
}

function ignore(): void {
  // There is no other place to say so, and the next write fails on its own.
}

export const stderr = new Output(2, ignore);
export const stdout = new Output(1, exitOnError);

/** Whether no output was refused, which a stream reports later. */
export function isWritten(): boolean {
  return !stdout.hasFailed && !stderr.hasFailed;
}

/** Resolves when readers have taken all output. */
export async function written(): Promise<void> {
  for (const output of [stdout, stderr])
    await new Promise((resolve) => void output.stream().write('', resolve));
}

/** Watches the streams of Node, for code that takes them from `process`. */
export function watchOutput(): void {
  stdout.stream();
  stderr.stream();
}

/** Lets a server continue when the readers of its output have gone. */
export function ignoreClosedOutput(): void {
  stdout.ignoreErrors();
  stderr.ignoreErrors();
}
