import { counted } from '../diagnostics/message_text.ts';
import { EXIT } from './exit_codes.ts';

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
