/**
 * Why events are lost: they could not be made, the file could not be written, or it was slower than they came and too
 * many waited.
 */
type LossReason = 'not_made' | 'not_written' | 'too_slow';

/** Counts events that are lost, and tells a person. */
export interface LostEvents {
  readonly add: (reason: LossReason, count: number, why: string) => void;
  readonly counts: () => Readonly<Record<LossReason, number>>;
}

/** A loss is told at once, and those that follow it together, no more often than this. */
const TELL_EVERY_MS = 10_000;

/**
 * Losses begin with none. `say`, by default to standard error, gets a line now and then; what is not told yet is in the
 * next line.
 */
export function lostEvents(
  say: (line: string) => void = toStandardError,
  nowMs: () => number = Date.now,
): LostEvents {
  const counts: Record<LossReason, number> = { not_made: 0, not_written: 0, too_slow: 0 };
  let untold = 0;
  let toldMs = Number.NEGATIVE_INFINITY;
  return {
    add: (reason, count, why) => {
      counts[reason] += count;
      untold += count;
      const now = nowMs();
      if (untold === 0 || (now - toldMs < TELL_EVERY_MS && now >= toldMs)) return;
      say(`${untold} ${untold === 1 ? 'event is' : 'events are'} lost: ${why}`);
      untold = 0;
      toldMs = now;
    },
    counts: () => ({ ...counts }),
  };
}

/** Writes a line for the person who runs the process. */
export function toStandardError(line: string): void {
  process.stderr.write(`${line}\n`);
}
