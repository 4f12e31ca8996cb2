import { type Histogram, histogram } from '../../simulator/histogram.ts';
import type { SecondStats } from '../wire.ts';

/** Seconds with traffic that are remembered. */
const SECONDS = 300;

interface Counting {
  readonly second: number;
  readonly classes: [number, number, number, number, number, number];
  readonly latency: Histogram;
  requests: number;
  stops: number;
  maxMs: number;
  requestBytes: number;
  responseBytes: number;
}

/** An exchange that ended. */
export interface Ended {
  readonly status: number;
  readonly isStop: boolean;
  readonly tookMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** Figures of each second in which something ended. */
export class Seconds {
  readonly #past: SecondStats[] = [];
  readonly #all = histogram();
  readonly #ended: (stats: SecondStats) => void;
  /** Number of exchanges in flight. */
  readonly #open: () => number;
  #now: Counting | null = null;

  /** `ended` gets the figures of each second that has ended, unless no exchange ended in it. */
  constructor(ended: (stats: SecondStats) => void, open: () => number) {
    this.#ended = ended;
    this.#open = open;
  }

  add(nowMs: number, { status, isStop, tookMs, requestBytes, responseBytes }: Ended): void {
    const second = Math.floor(nowMs / 1_000);
    let now = this.#now;
    if (now?.second !== second) {
      this.turn(nowMs);
      this.#now = now = newSecond(second);
    }
    now.requests++;
    now.classes[Math.min(5, Math.floor(status / 100))]!++;
    if (isStop) now.stops++;
    now.latency.add(tookMs);
    this.#all.add(tookMs);
    now.maxMs = Math.max(now.maxMs, tookMs);
    now.requestBytes += requestBytes;
    now.responseBytes += responseBytes;
  }

  /** Ends the current second if the clock has left it. `add` calls it too, because an exchange may come before the timer of the feed. */
  turn(nowMs: number): void {
    const now = this.#now;
    if (now === null || now.second === Math.floor(nowMs / 1_000)) return;
    this.#now = null;
    const stats = statsOf(now, this.#open());
    this.#past.push(stats);
    if (this.#past.length > SECONDS) this.#past.shift();
    this.#ended(stats);
  }

  past(): readonly SecondStats[] {
    return this.#past;
  }

  latency(): { readonly p50Ms: number; readonly p90Ms: number; readonly p99Ms: number } | null {
    const all = this.#all;
    if (all.count() === 0) return null;
    return { p50Ms: quantile(all, 0.5), p90Ms: quantile(all, 0.9), p99Ms: quantile(all, 0.99) };
  }
}

function newSecond(second: number): Counting {
  return {
    second,
    classes: [0, 0, 0, 0, 0, 0],
    latency: histogram(),
    requests: 0,
    stops: 0,
    maxMs: 0,
    requestBytes: 0,
    responseBytes: 0,
  };
}

function statsOf({ second, latency, ...counts }: Counting, open: number): SecondStats {
  return {
    atMs: second * 1_000,
    ...counts,
    p50Ms: quantile(latency, 0.5),
    p90Ms: quantile(latency, 0.9),
    p99Ms: quantile(latency, 0.99),
    open,
  };
}

/** A share of a histogram in ms, in whole µs. */
export function quantile(of: Histogram, share: number): number {
  return Math.round(of.quantile(share) * 1_000) / 1_000;
}
