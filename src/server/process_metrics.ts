import { containedFaults } from '../io/containment.ts';
import type { Family } from './admin_metrics.ts';

/** Delay of the event loop: while it is suspended or one request keeps it busy, all others wait. */
export interface LoopDelay {
  readonly families: () => Family[];
  readonly stop: () => Promise<void>;
}

const SAMPLE_MS = 20;
/** Upper bounds, in seconds. */
const BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Starts to measure; the timer does not keep the process alive. */
export function measureLoopDelay(nowMs: () => number = () => performance.now()): LoopDelay {
  const buckets = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  let sum = 0;
  let max = 0;
  let dueMs = nowMs() + SAMPLE_MS;
  const sample = (): void => {
    const now = nowMs();
    const seconds = Math.max(0, now - dueMs) / 1_000;
    dueMs = now + SAMPLE_MS;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    buckets[bucket < 0 ? BOUNDS.length : bucket]! += 1;
    sum += seconds;
    max = Math.max(max, seconds);
  };
  const timer = setInterval(sample, SAMPLE_MS).unref();
  return {
    stop: async () => clearInterval(timer),
    families: () => {
      const samples: Record<string, number> = {};
      let below = 0;
      for (const [index, count] of buckets.entries()) {
        below += count;
        samples[`_bucket{le="${index < BOUNDS.length ? BOUNDS[index] : '+Inf'}"}`] = below;
      }
      samples['_count'] = below;
      samples['_sum'] = sum;
      return [
        {
          name: 'edgeproof_event_loop_delay_seconds',
          type: 'histogram',
          unit: 'seconds',
          help: `Delay of the event loop, sampled every ${SAMPLE_MS} ms.`,
          samples,
        },
        {
          name: 'edgeproof_event_loop_delay_max_seconds',
          type: 'gauge',
          unit: 'seconds',
          help: 'The longest delay since the start, over all processes.',
          samples: { '': max },
        },
      ];
    },
  };
}

/** Internal errors that ended only one connection. */
export function faultsFamily(): Family {
  return {
    name: 'edgeproof_contained_faults',
    type: 'counter',
    help: 'Internal errors that ended one connection and nothing else.',
    samples: { _total: containedFaults() },
  };
}

/** Lost events, by reason. */
export function lostFamily(counts: Readonly<Record<string, number>>): Family {
  const samples = Object.fromEntries(
    Object.entries(counts).map(([reason, count]) => [`_total{reason="${reason}"}`, count]),
  );
  return {
    name: 'edgeproof_events_lost',
    type: 'counter',
    help: 'Lost events, by reason.',
    samples,
  };
}
