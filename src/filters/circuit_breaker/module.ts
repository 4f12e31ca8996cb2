import type { Handler, Pass, Stop } from '../../engine/contract.ts';
import type { Module } from '../../engine/module.ts';
import {
  type Admission,
  type Breaker,
  type BreakerSettings,
  admit,
  admitted,
  concluded,
  newBreaker,
} from './algorithm.ts';
import type { CircuitBreakerConfig } from './module_schema.ts';
import { numbers, reasons } from './facts.ts';

type Code = keyof typeof reasons;

const BLOCKED: Admission = { decision: 'open', serial: -1 };

/** Rejects requests while the error share of the upstream in the rolling window is too high. */
export const circuitBreaker: Module<CircuitBreakerConfig, Code> = {
  type: 'circuit_breaker',
  reasons,
  compile: (config, linked) => {
    const settings: BreakerSettings = {
      trippedMs: config.tripped_duration * 1_000,
      windowMs: config.rolling_window * 1_000,
      buckets: config.num_buckets,
      volumeThreshold: config.volume_threshold,
      errorThreshold: config.error_threshold_percentage,
    };
    const blocked: Stop<Code> = {
      verdict: 'stop',
      reason: { code: 'circuit_breaker.open', detail: {} },
      // Blocked requests are recorded, too: they advance the breaker's time even if the clock steps back.
      filterData: BLOCKED,
      response: linked.refusal(
        503,
        numbers.open.number,
        'This endpoint is failing; requests are rejected until it recovers',
      ),
    };
    // While the circuit is closed, all requests share one admission and thus one verdict.
    let passed = pass('circuit_breaker.closed', { decision: 'closed', serial: 0 });
    const handler: Handler<Breaker> = {
      initial: () => newBreaker(settings),
      onRequest: (_request, _connection, breaker, world) => {
        const admission = admit(breaker, world.nowMs());
        if (admission.decision === 'open') return blocked;
        if (admission.decision === 'probe') return pass('circuit_breaker.probe', admission);
        if (passed.filterData !== admission) passed = pass('circuit_breaker.closed', admission);
        return passed;
      },
      reduce: (breaker, event, world) => {
        const admission = event.verdict.filterData as Admission | undefined;
        if (admission === undefined) return;
        if (event.kind === 'decided') admitted(breaker, settings, admission, world.nowMs());
        else concluded(breaker, settings, admission.serial, event.outcome, world.nowMs());
      },
    };
    return handler;
  },
};

function pass(code: Code, admission: Admission): Pass<Code> {
  return { verdict: 'pass', reason: { code, detail: {} }, filterData: admission };
}
