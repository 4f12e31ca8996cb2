import { EXIT } from './exit_codes.ts';

/** Ends a verb when the reader of its output has closed the pipe, as `| head` does. */
export function exitOnClosedPipe(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.runtime);
}

/** Lets a server continue when the reader of its output has gone. Each write then fails on its own. */
export function ignoreClosedOutput(): void {
  process.stdout.off('error', exitOnClosedPipe);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Waits for a signal to stop; a second one ends the process at once. */
export function untilShutdown(say: (text: string) => void): Promise<number> {
  return new Promise((resolve) => {
    const stop = () => {
      say('draining; repeat to stop at once');
      for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        process.once(signal, () => process.exit(EXIT.interrupted));
      }
      resolve(EXIT.ok);
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
  });
}
