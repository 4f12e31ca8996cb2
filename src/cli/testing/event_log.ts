import { writeText } from '../write_file.ts';
import { idMaker } from '../../events/identifiers.ts';
import { eventJson } from '../../events/json.ts';
import { projectHttpRequestComplete } from '../../events/project.ts';
import { seededChance } from '../../engine/drivers/seeded_chance.ts';
import type { SimulatedRequest } from '../../simulator/simulated_request.ts';

/**
 * Makes the event line of each completed request; empty if the handshake failed. Ids use their own seeded randomness: the same run gives the
 * same lines.
 */
export function eventMaker(): (simulated: SimulatedRequest) => string {
  const newId = idMaker('ev', seededChance('event log').random);
  return ({ exchange, endMs }) =>
    exchange.hasRequest ? `${eventJson(projectHttpRequestComplete(exchange, newId, endMs))}\n` : '';
}

/** Keeps the events of a run, in the order of completion. */
export interface EventLog {
  readonly completed: (simulated: SimulatedRequest) => void;
  readonly write: (path: string) => Promise<void>;
}

export function eventLog(): EventLog {
  const make = eventMaker();
  const lines: string[] = [];
  return {
    completed: (simulated) => void lines.push(make(simulated)),
    write: async (path) => writeText(path, lines.join('')),
  };
}
