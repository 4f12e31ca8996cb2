/**
 * Stops sending requests to an upstream that fails. Results are counted in a rolling window of buckets; a share of
 * failures at or above the threshold trips the circuit; after a while single requests probe whether it may close.
 *
 * Time is what `nowMs` says, but it never runs backwards in here: a step back counts as no time at all.
 * A result counts when it is known, and only in the period in which its request was admitted.
 */
export interface BreakerSettings {
  /** How long the circuit stays open before a probe; above 0. */
  readonly trippedMs: number;
  /** Length of the rolling window; above 0. */
  readonly windowMs: number;
  /** Parts of the window, 1 to 128; they need not divide it evenly. */
  readonly buckets: number;
  /** Results that the window must hold before the share is looked at. */
  readonly volumeThreshold: number;
  /** Share of failures, 0 to 1, from which on the circuit trips. */
  readonly errorThreshold: number;
}

/** `closed` and `probe` may go to the upstream, `open` may not. `serial` ties a result to its admission. */
export interface Admission {
  readonly decision: 'closed' | 'open' | 'probe';
  readonly serial: number;
}

/** `failure` is a status of 500 or more, or no response; `cancelled` proves nothing. */
export type BreakerOutcome = 'success' | 'failure' | 'cancelled';

/** What a breaker remembers; changed by `admitted` and `concluded` only. */
export interface Breaker {
  /** Time that passed in here, and what the clock said then. */
  elapsedMs: number;
  lastMs: number;
  /** Highest serial given; those below `periodSerial` belong to a period that is over. */
  serial: number;
  periodSerial: number;
  /** What every request gets while the circuit is closed; null while it is open. */
  closed: Admission | null;
  openUntilMs: number;
  /** The probe under way, -1 for none, and when it stops keeping others out. */
  probeSerial: number;
  probeUntilMs: number;
  readonly window: Window;
}

interface Window {
  /** When the first result since the last reset came; NaN before. Buckets are counted from here. */
  startMs: number;
  /** Number of the bucket that the latest result went to. */
  latest: number;
  readonly results: Uint32Array;
  readonly failures: Uint32Array;
  allResults: number;
  allFailures: number;
}

const BLOCKED: Admission = { decision: 'open', serial: -1 };
const MOST_BUCKETS = 128;

/** A closed circuit that has seen nothing. */
export function newBreaker(settings: BreakerSettings): Breaker {
  const buckets = Math.min(MOST_BUCKETS, Math.max(1, settings.buckets));
  return {
    elapsedMs: 0,
    lastMs: 0,
    serial: 0,
    periodSerial: 0,
    closed: { decision: 'closed', serial: 0 },
    openUntilMs: 0,
    probeSerial: -1,
    probeUntilMs: 0,
    window: {
      startMs: Number.NaN,
      latest: 0,
      results: new Uint32Array(buckets),
      failures: new Uint32Array(buckets),
      allResults: 0,
      allFailures: 0,
    },
  };
}

/** Whether a request may go to the upstream now. Changes nothing: `admitted` must follow before the next request. */
export function admit(breaker: Breaker, nowMs: number): Admission {
  if (breaker.closed !== null) return breaker.closed;
  const time = timeAt(breaker, nowMs);
  if (time < breaker.openUntilMs) return BLOCKED;
  if (breaker.probeSerial >= 0 && time < breaker.probeUntilMs) return BLOCKED;
  return { decision: 'probe', serial: breaker.serial + 1 };
}

/**
 * Notes what `admit` said. A probe keeps others out until it is concluded, but no longer than `trippedMs`: one
 * that is never heard of again must not keep the circuit open for ever.
 */
export function admitted(
  breaker: Breaker,
  settings: BreakerSettings,
  admission: Admission,
  nowMs: number,
): void {
  const time = advance(breaker, nowMs);
  if (admission.decision !== 'probe' || admission.serial !== breaker.serial + 1) return;
  breaker.serial = admission.serial;
  breaker.probeSerial = admission.serial;
  breaker.probeUntilMs = time + settings.trippedMs;
}

/**
 * Notes how the request admitted as `serial` fared. Results from before the circuit last tripped or closed are
 * ignored. Of probes, the first success closes the circuit and empties the window, the first failure keeps it
 * open for another `trippedMs`, and a cancelled one makes room for the next.
 */
export function concluded(
  breaker: Breaker,
  settings: BreakerSettings,
  serial: number,
  outcome: BreakerOutcome,
  nowMs: number,
): void {
  const time = advance(breaker, nowMs);
  if (serial < breaker.periodSerial) return;
  if (breaker.closed === null) {
    if (outcome === 'success') close(breaker);
    else if (outcome === 'failure') trip(breaker, settings, time);
    else if (serial === breaker.probeSerial) breaker.probeSerial = -1;
    return;
  }
  if (outcome === 'cancelled') return;
  const { window } = breaker;
  record(window, settings, outcome === 'failure', time);
  // The quotient, not a product: 7 of 100 must reach a threshold of 0.07, and 0.07 * 100 is above 7.
  if (
    window.allResults >= settings.volumeThreshold &&
    window.allFailures / window.allResults >= settings.errorThreshold
  ) {
    trip(breaker, settings, time);
  }
}

function trip(breaker: Breaker, settings: BreakerSettings, time: number): void {
  breaker.periodSerial = ++breaker.serial;
  breaker.closed = null;
  breaker.openUntilMs = time + settings.trippedMs;
  breaker.probeSerial = -1;
}

function close(breaker: Breaker): void {
  breaker.periodSerial = ++breaker.serial;
  breaker.closed = { decision: 'closed', serial: breaker.serial };
  breaker.probeSerial = -1;
  forgetAll(breaker.window);
  breaker.window.startMs = Number.NaN;
  breaker.window.latest = 0;
}

function timeAt(breaker: Breaker, nowMs: number): number {
  return breaker.elapsedMs + Math.max(0, nowMs - breaker.lastMs);
}

function advance(breaker: Breaker, nowMs: number): number {
  breaker.elapsedMs = timeAt(breaker, nowMs);
  breaker.lastMs = nowMs;
  return breaker.elapsedMs;
}

function record(window: Window, settings: BreakerSettings, isFailure: boolean, time: number): void {
  if (Number.isNaN(window.startMs)) window.startMs = time;
  const size = window.results.length;
  const bucket = Math.floor(((time - window.startMs) * size) / settings.windowMs);
  if (bucket - window.latest >= size) {
    forgetAll(window);
    window.latest = bucket;
  }
  while (window.latest < bucket) forget(window, ++window.latest % size);
  const slot = window.latest % size;
  window.results[slot]! += 1;
  window.allResults += 1;
  if (isFailure) {
    window.failures[slot]! += 1;
    window.allFailures += 1;
  }
}

function forget(window: Window, slot: number): void {
  window.allResults -= window.results[slot]!;
  window.allFailures -= window.failures[slot]!;
  window.results[slot] = 0;
  window.failures[slot] = 0;
}

function forgetAll(window: Window): void {
  window.results.fill(0);
  window.failures.fill(0);
  window.allResults = 0;
  window.allFailures = 0;
}
