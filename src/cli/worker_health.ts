/**
 * When a worker that hangs is replaced. Time is counted in checks that the first process has made: one that was suspended
 * itself, as in a sleeping laptop, does not take the silence for that of its workers.
 */

/** The time between two checks of a worker, in ms. */
export const CHECK_MS = 3_000;
/** A worker that serves and does not answer for so many checks hangs: 15 s. */
const SILENT_CHECKS = 5;
/** A worker that does not listen after so many checks hangs: 60 s. */
const STARTING_CHECKS = 20;

/** What the first process knows of a worker. */
export interface WorkerHealth {
  /** The worker has answered. */
  readonly answered: () => void;
  /** Called every `CHECK_MS`; says why the worker hangs, or null if it must be asked. */
  readonly check: (isListening: boolean) => string | null;
}

export function workerHealth(): WorkerHealth {
  let starting = 0;
  let silent = 0;
  return {
    answered: () => void (silent = 0),
    check: (isListening) => {
      if (!isListening) {
        starting++;
        return starting > STARTING_CHECKS ? `does not listen after ${secondsOf(STARTING_CHECKS)} s` : null;
      }
      silent++;
      return silent > SILENT_CHECKS ? `does not answer for ${secondsOf(SILENT_CHECKS)} s` : null;
    },
  };
}

function secondsOf(checks: number): number {
  return (checks * CHECK_MS) / 1_000;
}
