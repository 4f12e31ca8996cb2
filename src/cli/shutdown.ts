import { counted } from '../diagnostics/message_text.ts';
import { failureText } from '../diagnostics/system_failure.ts';
import { EXIT } from './exit_codes.ts';

/** Ends a verb whose output cannot be written: silently if the reader has gone, as with `| head`. */
export function exitOnOutputError(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EPIPE')
    process.stderr.write(`cannot write to standard output: ${failureText(error)}\n`);
  process.exit(EXIT.runtime);
}

/** Watches both outputs for errors, once for all command lines that a process runs. */
export function watchOutput(): void {
  process.stdout.off('error', exitOnOutputError).once('error', exitOnOutputError);
  process.stderr.off('error', ignore).on('error', ignore); // there is no other place to say so
}

function ignore(): void {
  // The next write fails on its own.
}

/** Lets a server continue when the reader of its output has gone. Each write then fails on its own. */
export function ignoreClosedOutput(): void {
  process.stdout.off('error', exitOnOutputError);
  for (const stream of [process.stdout, process.stderr]) stream.off('error', ignore).on('error', ignore);
}

/** A line about connections that did not end by themselves. */
export function cutLine(count: number, drainMs: number): string {
  return `${counted(count, 'connection was', 'connections were')} closed after ${drainMs / 1_000} s (--drain chooses)`;
}

/** Signals that stop a verb for which SIGHUP means something else. */
export const STOPPING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
/** Signals that stop other verbs: SIGHUP comes when the terminal is closed. */
export const ENDING: readonly NodeJS.Signals[] = [...STOPPING, 'SIGHUP'];

/** Waits for a signal to stop; a second one ends the process at once. */
export function untilShutdown(say: (text: string) => void, signals = ENDING): Promise<number> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of signals) {
        process.off(signal, stop);
        process.once(signal, () => process.exit(EXIT.interrupted));
      }
      say('draining; repeat to stop at once');
      resolve(EXIT.ok);
    };
    for (const signal of signals) process.once(signal, stop);
  });
}
