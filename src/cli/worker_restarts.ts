import { EXIT } from './exit_codes.ts';

/**
 * When a worker is started again. One that cannot start, as after a mistake in a file that the others do not use yet, costs
 * nothing while others serve: it is tried again, less and less often.
 */

/** How a worker ended. */
export interface WorkerEnd {
  /** Since its start, in ms. */
  readonly livedMs: number;
  /** Whether it had begun to listen. */
  readonly hasListened: boolean;
  /** Its exit code; null if a signal ended it. */
  readonly status: number | null;
}

/** The other workers when one has ended. */
interface OtherWorkers {
  /** Whether one of them listens. */
  readonly areListening: boolean;
  /** Whether any worker has listened since the start. */
  readonly haveListened: boolean;
}

/** Start another worker after some ms, or stop all with an exit code. */
export type AfterEnd = (
  end: WorkerEnd,
  others: OtherWorkers,
) => { readonly delayMs: number } | { readonly exitCode: number };

/** A worker that ends sooner than this after its start has failed. */
const SHORT_LIFE_MS = 2_000;
/** The first failure is followed by a start at once, the second one by a start after this time, further ones by doubled times. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** Failures in a row after which all are stopped, if no worker listens. */
const FAILURES = 6;

/** Decides for a worker and those that replace it, one after the other. */
export function restarts(): AfterEnd {
  let failures = 0;
  return ({ livedMs, hasListened, status }, { areListening, haveListened }) => {
    failures = hasListened && livedMs >= SHORT_LIFE_MS ? 0 : failures + 1;
    // A failure of the first start, such as a taken port or a file with errors, would be the same in every worker.
    const isHopeless = !haveListened && status !== null && status !== 0;
    if (isHopeless || (failures >= FAILURES && !areListening))
      return { exitCode: status === null || status === 0 ? EXIT.runtime : status };
    if (failures < 2) return { delayMs: 0 };
    return { delayMs: Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 2)) };
  };
}
