import type { BreakerOutcome, BreakerSettings } from '../../src/filters/circuit_breaker/algorithm.ts';

type Decision = 'closed' | 'open' | 'probe';

interface Request {
  readonly decision: Decision;
  readonly period: number;
  readonly startMs: number;
  ended: boolean;
}

/**
 * The circuit breaker written down for reading: it keeps every request and result there ever was, and looks through
 * all of them each time.
 */
export class NaiveBreaker {
  readonly settings: BreakerSettings;
  readonly requests: Request[] = [];
  /** Results counted in this period, by their times. */
  results: { readonly atMs: number; readonly failed: boolean }[] = [];
  /** How often the circuit has changed; requests belong to the period in which they arrived. */
  period = 0;
  trippedAtMs: number | null = null;
  clock: { passedMs: number; shownMs: number } | null = null;

  constructor(settings: BreakerSettings) {
    this.settings = settings;
  }

  request(nowMs: number): { decision: Decision; ticket: number } {
    const time = this.time(nowMs);
    const decision = this.decide(time);
    this.requests.push({ decision, period: this.period, startMs: time, ended: false });
    return { decision, ticket: this.requests.length - 1 };
  }

  end(ticket: number, outcome: BreakerOutcome, nowMs: number): void {
    const time = this.time(nowMs);
    const request = this.requests[ticket]!;
    request.ended = true;
    if (request.decision === 'open' || request.period !== this.period) return;
    if (request.decision === 'probe') {
      if (outcome === 'success') this.change(null);
      if (outcome === 'failure') this.change(time);
      return;
    }
    if (outcome === 'cancelled') return;
    this.results.push({ atMs: time, failed: outcome === 'failure' });
    const counted = this.results.filter(
      ({ atMs }) => this.bucket(atMs) > this.bucket(time) - this.settings.buckets,
    );
    const failures = counted.filter(({ failed }) => failed).length;
    const { volumeThreshold, errorThreshold } = this.settings;
    if (counted.length >= volumeThreshold && failures / counted.length >= errorThreshold) this.change(time);
  }

  private decide(time: number): Decision {
    if (this.trippedAtMs === null) return 'closed';
    if (time < this.trippedAtMs + this.settings.trippedMs) return 'open';
    // The latest probe keeps others out while it runs and is young.
    const probe = this.requests.findLast(
      ({ decision, period }) => decision === 'probe' && period === this.period,
    );
    if (probe !== undefined && !probe.ended && time < probe.startMs + this.settings.trippedMs) return 'open';
    return 'probe';
  }

  private change(trippedAtMs: number | null): void {
    this.trippedAtMs = trippedAtMs;
    this.period++;
    this.results = [];
  }

  private bucket(atMs: number): number {
    const firstMs = this.results[0]!.atMs;
    return Math.floor(((atMs - firstMs) * this.settings.buckets) / this.settings.windowMs);
  }

  /** Time as it passed in here: a clock that steps back shows that none did. */
  private time(nowMs: number): number {
    this.clock ??= { passedMs: 0, shownMs: nowMs };
    this.clock.passedMs += Math.max(0, nowMs - this.clock.shownMs);
    this.clock.shownMs = nowMs;
    return this.clock.passedMs;
  }
}
