import { counted } from '../diagnostics/message_text.ts';
/**
 * Why events are lost: serialisation failed, the file could not be written, or events arrived faster than it
 * could be written and the queue was full.
 */
type LossReason = 'not_made' | 'not_written' | 'too_slow';

/** Counts lost events and reports them. */
export interface LostEvents {
  readonly add: (reason: LossReason, count: number, why: string) => void;
  readonly counts: () => Readonly<Record<LossReason, number>>;
}

/** The first loss is reported immediately; later ones are summed up at this interval. */
const REPORT_INTERVAL_MS = 10_000;

/**
 * Starts with zero losses. `say`, by default to standard error, receives summary lines; unreported losses are
 * in the next one.
 */
export function lostEvents(
  say: (line: string) => void = toStandardError,
  nowMs: () => number = Date.now,
): LostEvents {
  const counts: Record<LossReason, number> = { not_made: 0, not_written: 0, too_slow: 0 };
  let unreported = 0;
  let reportedMs = Number.NEGATIVE_INFINITY;
  return {
    add: (reason, count, why) => {
      counts[reason] += count;
      unreported += count;
      const now = nowMs();
      if (unreported === 0 || (now - reportedMs < REPORT_INTERVAL_MS && now >= reportedMs)) return;
      say(`${counted(unreported, 'event is', 'events are')} lost: ${why}`);
      unreported = 0;
      reportedMs = now;
    },
    counts: () => ({ ...counts }),
  };
}

/**
 * Runs what makes an event, or a listener of it; if it fails, at once or as a promise, the event is lost, and nothing
 * else is affected.
 */
export function attempting(lost: LostEvents): (make: () => unknown) => void {
  const failed = (error: unknown): void => lost.add('not_made', 1, String(error));
  return (make) => {
    try {
      const made = make();
      // The type of a listener lets it be an async function, whose rejection would end the process.
      if (made instanceof Promise) made.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Writes a line for the operator. */
export function toStandardError(line: string): void {
  process.stderr.write(`${line}\n`);
}
