import type { Happening, World } from '../engine/contract.ts';
import { type Breaker, type BreakerSettings, concluded } from '../mechanisms/circuit_breaker.ts';
import type { Carry } from './run.ts';
import type { PolicyState } from './walk.ts';

/** The state of one circuit-breaker action. */
export interface Circuit {
  readonly breaker: Breaker;
  readonly settings: BreakerSettings;
}

/**
 * Tells the circuits that let a request through how it went. A request that the policy stopped further on never
 * came to the upstream: that proves nothing.
 */
export function conclude(state: PolicyState, happening: Happening, world: World): void {
  const { verdict } = happening;
  const { awaited } = (verdict.carry as Carry | undefined) ?? { awaited: null };
  if (awaited === null) return;
  const goesNowhere = verdict.verdict === 'stop' && verdict.forward === undefined;
  if (happening.kind === 'decided' && !goesNowhere) return;
  const outcome = happening.kind === 'concluded' ? happening.outcome : 'cancelled';
  for (const { cell, serial } of awaited) {
    const { breaker, settings } = state.cells[cell] as Circuit;
    concluded(breaker, settings, serial, outcome, world.nowMs());
  }
}
