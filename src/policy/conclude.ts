import type { Circuit } from '../filters/circuit_breaker/action.ts';
import type { StateEvent, World } from '../engine/contract.ts';
import { concluded } from '../filters/circuit_breaker/algorithm.ts';
import type { FilterData } from './run.ts';
import type { PolicyState } from '../filters/policy_run.ts';

/**
 * Reports the outcome of a request to the circuits that let it through. A request that the policy stopped later
 * never reached the upstream and is neutral.
 */
export function conclude(state: PolicyState, event: StateEvent, world: World): void {
  const { verdict } = event;
  const { awaited } = (verdict.filterData as FilterData | undefined) ?? { awaited: null };
  if (awaited === null) return;
  const goesNowhere = verdict.verdict === 'stop' && verdict.forward === undefined;
  if (event.kind === 'decided' && !goesNowhere) return;
  const outcome = event.kind === 'concluded' ? event.outcome : 'cancelled';
  for (const { cell, serial } of awaited) {
    const { breaker, settings } = state.cells[cell] as Circuit;
    concluded(breaker, settings, serial, outcome, world.nowMs());
  }
}
