import { type Admission, type BreakerSettings, admit, admitted, concluded, newBreaker } from './algorithm.ts';
import { type ActionKind, type ActionOutcome, stepsOf } from '../action.ts';
import { awaitOutcome, keepResult } from '../policy_run.ts';
import { durationMs } from '../duration.ts';
import { messages, numbers } from './facts.ts';

/** Rejects requests while the upstream keeps failing. */
export const circuitBreaker: ActionKind<'circuit-breaker'> = {
  type: 'circuit-breaker',
  compile: ({ type, config }, compiling) => {
    const settings: BreakerSettings = {
      trippedMs: durationMs(config.tripped_duration)!,
      windowMs: durationMs(config.window_duration)!,
      buckets: config.num_buckets,
      volumeThreshold: config.volume_threshold,
      errorThreshold: config.error_threshold,
    };
    const cell = compiling.cell(
      () => newBreaker(settings),
      (breaker, serial, outcome, world) => concluded(breaker, settings, serial, outcome, world.nowMs()),
    );
    const message = 'This endpoint is failing; requests are rejected until it recovers';
    const response = compiling.context.refusal(503, numbers.open.number, message);
    const step = stepsOf(type, messages, compiling.pointer, config);
    const outcomes: Readonly<Record<Admission['decision'], ActionOutcome>> = {
      closed: { verdict: 'pass', step: step('closed') },
      probe: { verdict: 'pass', step: step('probe') },
      open: config.enforce
        ? { verdict: 'stop', as: 'denied', step: step('open'), response }
        : { verdict: 'pass', step: step('open') },
    };
    return {
      run: (policyRun) => {
        const breaker = cell.of(policyRun);
        const nowMs = policyRun.world.nowMs();
        const admission = admit(breaker, nowMs);
        // Recorded here, not at the end of the phase: while this request waits, no other may become a probe
        // too.
        admitted(breaker, settings, admission, nowMs);
        if (admission.decision !== 'open') awaitOutcome(policyRun, cell.index, admission.serial);
        keepResult(policyRun, 'circuit_breaker', {});
        return outcomes[admission.decision];
      },
    };
  },
};
