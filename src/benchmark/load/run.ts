import { type LatencySummary, latencies } from '../histogram.ts';
import type { Ended, Target } from './target.ts';

/** Due times of requests, in ms from the start. They do not depend on responses (an open model). */
export type Arrivals = Iterator<number, never>;

/** Requests at a constant rate. */
export function* constantArrivals(perSecond: number): Generator<number, never> {
  for (let sent = 0; ; sent++) yield (sent * 1_000) / perSecond;
}

/** A Poisson process: the time between requests is exponentially distributed. `random` is uniform in [0, 1). */
export function* poissonArrivals(perSecond: number, random: () => number): Generator<number, never> {
  for (let atMs = 0; ;) {
    atMs += (-Math.log(1 - random()) * 1_000) / perSecond;
    yield atMs;
  }
}

/** The clock and timers of the sender; tests inject their own. */
export interface Timing {
  /** Milliseconds since an arbitrary start. */
  readonly nowMs: () => number;
  readonly after: (ms: number, then: () => void) => void;
}

const SYSTEM: Timing = {
  nowMs: () => performance.now(),
  // Shorter delays are below the resolution of the system timer: use the next loop iteration.
  after: (ms, then) => void (ms > TIMER_MS ? setTimeout(then, ms - 1) : setImmediate(then)),
};
const TIMER_MS = 2;

export interface LoadOptions {
  readonly durationMs: number;
  /** Requests of this first period in ms are sent but not counted. */
  readonly warmUpMs: number;
  /** How long to wait for responses after the last request, in ms. */
  readonly patienceMs: number;
  readonly timing?: Timing;
}

/** The result of a load run. Times in ns. */
export interface LoadResult {
  readonly sent: number;
  readonly completed: number;
  /** Responses per second while load was sent. */
  readonly perSecond: number;
  /** From the time at which a request was due: the latency that a user sees. */
  readonly latency: LatencySummary;
  /** From the time at which it was sent: the server's own time, which closed models report. */
  readonly service: LatencySummary;
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  /** Requests without a response at the end. */
  readonly unanswered: number;
}

/** Interval of the check whether all requests are complete, in ms. */
const WAITING_MS = 5;

/**
 * Sends requests when they are due, however long earlier ones take, so that a stall of the server counts
 * against every request that was due meanwhile (no coordinated omission). Latencies are measured from the due
 * time.
 */
export function runLoad(target: Target, arrivals: Arrivals, options: LoadOptions): Promise<LoadResult> {
  const { durationMs, warmUpMs, patienceMs, timing = SYSTEM } = options;
  const [latency, service] = [latencies(), latencies()];
  const statuses = new Map<string, number>();
  const failures = new Map<string, number>();
  const beganMs = timing.nowMs();
  const endMs = beganMs + warmUpMs + durationMs;
  let [sent, completed, inTime, inFlight] = [0, 0, 0, 0];
  const counted = (dueMs: number): boolean => dueMs >= warmUpMs;

  function send(dueMs: number): void {
    const sentMs = timing.nowMs();
    inFlight++;
    if (counted(dueMs)) sent++;
    target.send((how: Ended) => {
      inFlight--;
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
        unanswered: inFlight,
      });
    const wait = (): void => {
      if (inFlight === 0 || timing.nowMs() > endMs + patienceMs) conclude();
      else timing.after(WAITING_MS, wait);
    };
    const iteration = (): void => {
      const nowMs = timing.nowMs() - beganMs;
      while (due <= nowMs && due < warmUpMs + durationMs) {
        send(due);
        due = arrivals.next().value;
      }
      if (due >= warmUpMs + durationMs) wait();
      else timing.after(due - nowMs, iteration);
    };
    iteration();
  });
}
