/**
 * Circuit breaker: rejects requests while the upstream fails. Outcomes are counted in a rolling window of
 * buckets; an error share at or above the threshold opens the circuit; later, single requests probe whether
 * it can close.
 *
 * `nowMs` is the clock. If it steps back, no time passes here. An outcome is counted when it is known, and
 * only in the period in which its request was admitted.
 */
export interface BreakerSettings {
  /** How long the circuit stays open before a probe; above 0. */
  readonly trippedMs: number;
  /** Length of the rolling window; above 0. */
  readonly windowMs: number;
  /** Buckets of the window, 1 to 128; they need not divide it evenly. */
  readonly buckets: number;
  /** Minimum number of outcomes in the window before the error share is evaluated. */
  readonly volumeThreshold: number;
  /** Error share, 0 to 1, at which the circuit opens. */
  readonly errorThreshold: number;
}

/** `closed` and `probe` go to the upstream, `open` does not. `serial` assigns an outcome to its admission. */
export interface Admission {
  readonly decision: 'closed' | 'open' | 'probe';
  readonly serial: number;
}

/** `failure`: a status of 500 or more, or no response. `cancelled` counts as neither. */
export type BreakerOutcome = 'success' | 'failure' | 'cancelled';

/** The state of a breaker; only `admitted` and `concluded` change it. */
export interface Breaker {
  /** Monotonic time, and the clock value at its last update. */
  elapsedMs: number;
  lastMs: number;
  /** Highest serial so far; serials below `periodSerial` belong to an earlier period. */
  serial: number;
  periodSerial: number;
  /** The admission shared by all requests while the circuit is closed; null while it is open. */
  closed: Admission | null;
  openUntilMs: number;
  /** The pending probe, or -1, and when it stops blocking further probes. */
  probeSerial: number;
  probeUntilMs: number;
  readonly window: Window;
}

interface Window {
  /** Time of the first outcome since the last reset; NaN before it. Buckets are counted from here. */
  startMs: number;
  /** Number of the bucket with the latest outcome. */
  latest: number;
  readonly results: Uint32Array;
  readonly failures: Uint32Array;
  allResults: number;
  allFailures: number;
}

const BLOCKED: Admission = { decision: 'open', serial: -1 };
const MOST_BUCKETS = 128;

/** A closed circuit without outcomes. */
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

/**
 * Decides whether a request may go to the upstream. Changes nothing; call `admitted` before the next
 * decision.
 */
export function admit(breaker: Breaker, nowMs: number): Admission {
  if (breaker.closed !== null) return breaker.closed;
  const time = timeAt(breaker, nowMs);
  if (time < breaker.openUntilMs) return BLOCKED;
  if (breaker.probeSerial >= 0 && time < breaker.probeUntilMs) return BLOCKED;
  return { decision: 'probe', serial: breaker.serial + 1 };
}

/**
 * Records the decision of `admit`. A probe blocks others until it is concluded, at most for `trippedMs`, so
 * that a lost probe cannot keep the circuit open forever.
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
 * Records the outcome of the request with this serial. Outcomes from before the circuit last opened or closed
 * are ignored. A successful probe closes the circuit and empties the window, a failed one keeps it open for
 * another `trippedMs`, and a cancelled one allows the next probe.
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
  // A quotient instead of a product: 7 of 100 must reach a threshold of 0.07, but 0.07 * 100 is above 7.
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
