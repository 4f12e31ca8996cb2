import type { Fact } from '../engine/contract.ts';
import { MODULE_FACTS } from '../filters/table.ts';

/** The id of the backend that a module's decision has chosen; null if it chose none. */
export function chosenBackend(module: string, detail: Readonly<Record<string, Fact>>): string | null {
  const member = MODULE_FACTS.get(module)?.choosesBackend;
  const id = member === undefined ? undefined : detail[member];
  return typeof id === 'string' ? id : null;
}
