import type { Fact } from '../engine/contract.ts';
import { MODULE_FACTS } from '../filters/table.ts';

/** A decision of a module. */
interface Decision {
  readonly module: string;
  readonly detail: Readonly<Record<string, Fact>>;
}

/** The id of the backend that the decisions have chosen, of several the last; null if they chose none. */
export function chosenBackend(decisions: readonly Decision[]): string | null {
  for (let at = decisions.length - 1; at >= 0; at--) {
    const { module, detail } = decisions[at]!;
    const member = MODULE_FACTS.get(module)?.choosesBackend;
    const id = member === undefined ? undefined : detail[member];
    if (typeof id === 'string') return id;
  }
  return null;
}
