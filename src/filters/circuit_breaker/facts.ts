import { durationMs } from '../duration.ts';
import { type Filter, whenEnforced } from '../facts.ts';
import type { Exercise } from '../fact_values.ts';
import { error, resultOf } from '../result_types.ts';
import type { CircuitBreakerConfig as ModuleConfig } from './module_schema.ts';
import type { CircuitBreakerConfig as ActionConfig } from './action_schema.ts';

export const messages = {
  closed: 'the circuit is closed',
  open: 'the circuit is open: too many requests to the upstream failed',
  probe: 'the circuit is open; this request is admitted as a probe',
};

export const reasons = {
  'circuit_breaker.closed': { message: messages.closed, decision: 'allow' },
  'circuit_breaker.open': { message: messages.open, decision: 'block' },
  'circuit_breaker.probe': { message: messages.probe, decision: 'allow_while_open' },
} as const;

export const numbers = {
  open: {
    number: 3202,
    title: 'Circuit open',
    means: 'The circuit breaker rejects requests because the upstream keeps failing.',
  },
};

export const circuitBreaker = {
  numbers,
  module: {
    type: 'circuit_breaker',
    place: 'route',
    edgeKinds: ['https'],
    ends: 'may',
    reads: ['clock', 'state'],
    costNs: 40,
    unseen: ['/num_buckets'],
    apiCodes: {
      below: {
        tripped_duration: 7015,
        rolling_window: 7016,
        num_buckets: 7018,
        error_threshold_percentage: 7011,
      },
    },
    remembersMs: (config) => (config.rolling_window + config.tripped_duration) * 1_000,
    lastsUntilSuccess: true,
    trips: (config) => ({
      volume: config.volume_threshold,
      windowMs: config.rolling_window * 1_000,
      errorThreshold: config.error_threshold_percentage,
    }),
    exercise: (config) =>
      tripping({
        volume: config.volume_threshold,
        trippedMs: config.tripped_duration * 1_000,
        windowMs: config.rolling_window * 1_000,
        errorThreshold: config.error_threshold_percentage,
      }),
    reasons,
    examples: {
      good: [{ volume_threshold: 50, error_threshold_percentage: 0.2 }],
      bad: [{ config: { error_threshold_percentage: 20 }, finding: 'edge.out_of_range' }],
    },
  },
  action: {
    type: 'circuit-breaker',
    phases: ['on_http_request'],
    ends: { when: whenEnforced, how: ['denied'] },
    result: resultOf('circuit_breaker', 'Decision of the circuit breaker.', { error }),
    leavesRequest: true,
    remembersMs: (config) => durationMs(config.window_duration)! + durationMs(config.tripped_duration)!,
    lastsUntilSuccess: true,
    trips: (config) => ({
      volume: config.volume_threshold,
      windowMs: durationMs(config.window_duration)!,
      errorThreshold: config.error_threshold,
    }),
    exercise: (config) =>
      tripping({
        volume: config.volume_threshold,
        trippedMs: durationMs(config.tripped_duration)!,
        windowMs: durationMs(config.window_duration)!,
        errorThreshold: config.error_threshold,
      }),
    reads: ['clock', 'state'],
    costNs: 80,
    unseen: ['/num_buckets'],
    reasons: messages,
    examples: {
      good: [{ volume_threshold: 50, tripped_duration: '30s' }],
      bad: [{ config: { tripped_duration: '1h' }, finding: 2225 }],
    },
  },
} satisfies Filter<ModuleConfig, ActionConfig>;

/** What trips a circuit breaker. */
interface Tripping {
  readonly volume: number;
  readonly trippedMs: number;
  readonly windowMs: number;
  /** Share of failures, 0 to 1. */
  readonly errorThreshold: number;
}

/**
 * Requests that trip a circuit breaker, with the next one while it is open, when it probes, and just before. Then
 * failures with a share at the threshold and just below it, and failures spread over most of the window.
 */
function tripping({ volume, trippedMs, windowMs, errorThreshold }: Tripping): readonly Exercise[] {
  const least = Math.max(1, volume);
  const failures = { count: least + 1, failing: true };
  const results = Math.max(least, SHARED_RESULTS);
  const succeeding = results - Math.ceil(results * errorThreshold);
  const shared = { failing: true, succeeding, thenMs: 1 };
  return [
    { ...failures, thenMs: 1 },
    { ...failures, thenMs: trippedMs + 1 },
    { ...failures, thenMs: trippedMs - 1 },
    { ...shared, count: results },
    { ...shared, count: results - 1 },
    { count: least, failing: true, everyMs: Math.floor((windowMs * WINDOW_SHARE) / least), thenMs: 1 },
  ];
}

/** Results that are enough to distinguish a share of failures from those near it. */
const SHARED_RESULTS = 10;
const WINDOW_SHARE = 0.8;
