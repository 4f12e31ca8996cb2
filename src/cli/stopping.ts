import { EXIT } from './exit_codes.ts';

/** Waits for the signal to stop; a second one ends the process at once. */
export function untilStopped(say: (text: string) => void): Promise<number> {
  return new Promise((resolve) => {
    const stop = () => {
      say('draining; once more to stop at once');
      for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        process.once(signal, () => process.exit(EXIT.interrupted));
      }
      resolve(EXIT.ok);
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
  });
}
