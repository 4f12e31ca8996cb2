import { type LatencySummary, latencies } from '../histogram.ts';
import type { Arrivals } from './arrivals.ts';
import type { Ended, Target } from './target.ts';

/** Time as the sender sees it: the system's, or one that tests make. */
export interface Timing {
  /** Milliseconds of any beginning. */
  readonly nowMs: () => number;
  readonly after: (ms: number, then: () => void) => void;
}

const SYSTEM: Timing = {
  nowMs: () => performance.now(),
  // Below this the timer of the system is too coarse: the loop looks again at once.
  after: (ms, then) => void (ms > TIMER_MS ? setTimeout(then, ms - 1) : setImmediate(then)),
};
const TIMER_MS = 2;

export interface LoadOptions {
  readonly durationMs: number;
  /** Requests of this long a time at the beginning are sent and not counted. */
  readonly warmUpMs: number;
  /** How long answers are waited for when all is sent. */
  readonly patienceMs: number;
  readonly timing?: Timing;
}

/** What came of a load. Times in ns. */
export interface LoadResult {
  readonly sent: number;
  readonly completed: number;
  /** Answers a second that came while load was sent. */
  readonly perSecond: number;
  /** From the moment at which a request was due: what a person waits who came then. */
  readonly latency: LatencySummary;
  /** From the moment at which it was sent: what the server alone took, and what closed models report. */
  readonly service: LatencySummary;
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  /** Requests that had no answer at the end. */
  readonly unanswered: number;
}

/** How often it is looked whether all have answered. */
const WAITING_MS = 5;

/**
 * Sends requests when they are due, however long earlier ones take, so that a server that stalls is charged for
 * everybody who came meanwhile. Latencies are measured from the due time.
 */
export function runLoad(target: Target, arrivals: Arrivals, options: LoadOptions): Promise<LoadResult> {
  const { durationMs, warmUpMs, patienceMs, timing = SYSTEM } = options;
  const [latency, service] = [latencies(), latencies()];
  const statuses = new Map<string, number>();
  const failures = new Map<string, number>();
  const beganMs = timing.nowMs();
  const endMs = beganMs + warmUpMs + durationMs;
  let [sent, completed, inTime, underWay] = [0, 0, 0, 0];
  const counted = (dueMs: number): boolean => dueMs >= warmUpMs;

  function send(dueMs: number): void {
    const sentMs = timing.nowMs();
    underWay++;
    if (counted(dueMs)) sent++;
    target.send((how: Ended) => {
      underWay--;
      if (!counted(dueMs)) return;
      const nowMs = timing.nowMs();
      if ('failure' in how) {
        failures.set(how.failure, (failures.get(how.failure) ?? 0) + 1);
        return;
      }
      completed++;
      if (nowMs <= endMs) inTime++;
      statuses.set(String(how.status), (statuses.get(String(how.status)) ?? 0) + 1);
      latency.record((nowMs - beganMs - dueMs) * 1e6);
      service.record((nowMs - sentMs) * 1e6);
    });
  }

  return new Promise((resolve) => {
    let due = arrivals.next().value;
    const conclude = (): void =>
      resolve({
        sent,
        completed,
        perSecond: (inTime * 1_000) / durationMs,
        latency: latency.summary(),
        service: service.summary(),
        statuses: Object.fromEntries(statuses),
        failures: Object.fromEntries(failures),
        unanswered: underWay,
      });
    const wait = (): void => {
      if (underWay === 0 || timing.nowMs() > endMs + patienceMs) conclude();
      else timing.after(WAITING_MS, wait);
    };
    const turn = (): void => {
      const nowMs = timing.nowMs() - beganMs;
      while (due <= nowMs && due < warmUpMs + durationMs) {
        send(due);
        due = arrivals.next().value;
      }
      if (due >= warmUpMs + durationMs) wait();
      else timing.after(due - nowMs, turn);
    };
    turn();
  });
}
