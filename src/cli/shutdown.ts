import { EXIT } from './exit_codes.ts';

/** Ends a verb whose output is read no further, as by `| head`: its reader has enough. */
export function endWithReader(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.runtime);
}

/**
 * Goes on when nobody reads what is printed any more: a process that serves does not end with the reader of its log.
 * Each write fails on its own then.
 */
export function outliveOutput(): void {
  process.stdout.off('error', endWithReader);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Waits for the signal to stop; a second one ends the process at once. */
export function untilShutdown(say: (text: string) => void): Promise<number> {
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
