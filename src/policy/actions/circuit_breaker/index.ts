import {
  type Admission,
  type BreakerSettings,
  admit,
  admitted,
  newBreaker,
} from '../../../mechanisms/circuit_breaker.ts';
import type { ActionKind, ActionOutcome } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import type { Circuit } from '../../conclude.ts';
import { awaitOutcome, keepResult } from '../../walk.ts';
import { durationMs } from '../duration.ts';

/** Holds requests back from an upstream that keeps failing. */
export const circuitBreaker: ActionKind<'circuit-breaker'> = {
  type: 'circuit-breaker',
  says: {
    closed: 'the circuit is closed',
    open: 'the circuit is open: too many requests to the upstream failed',
    probe: 'the circuit is open; this one request is let through to see whether the upstream has recovered',
  },
  compile: ({ type, config }, compiling) => {
    const settings: BreakerSettings = {
      trippedMs: durationMs(config.tripped_duration)!,
      windowMs: durationMs(config.window_duration)!,
      buckets: config.num_buckets,
      volumeThreshold: config.volume_threshold,
      errorThreshold: config.error_threshold,
    };
    const cell = compiling.cell((): Circuit => ({ breaker: newBreaker(settings), settings }));
    const message = 'This endpoint is failing; requests are held back until it recovers';
    const response = compiling.context.refusal(503, 3202, message);
    const step = stepsOf(type, circuitBreaker.says, compiling.pointer);
    const outcomes: Readonly<Record<Admission['decision'], ActionOutcome>> = {
      closed: { does: 'next', step: step('closed') },
      probe: { does: 'next', step: step('probe') },
      open: config.enforce
        ? { does: 'end', as: 'denied', step: step('open'), response }
        : { does: 'next', step: step('open', { enforced: false }) },
    };
    return {
      run: (walk) => {
        const { breaker } = cell.of(walk);
        const nowMs = walk.world.nowMs();
        const admission = admit(breaker, nowMs);
        // Noted here, not when the phase has ended: while this request waits, no other must become a probe too.
        admitted(breaker, settings, admission, nowMs);
        if (admission.decision !== 'open') awaitOutcome(walk, cell.index, admission.serial);
        keepResult(walk, 'circuit_breaker', {});
        return outcomes[admission.decision];
      },
    };
  },
};
