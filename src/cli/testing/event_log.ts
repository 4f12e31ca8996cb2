import { writeFile } from 'node:fs/promises';
import { idMaker } from '../../events/identifiers.ts';
import { httpRequestComplete } from '../../events/project.ts';
import { timestamp } from '../../events/timestamps.ts';
import { seededChance } from '../../simulator/chance.ts';
import type { Flight } from '../../simulator/flight.ts';

/** Makes the line of each finished request. Ids come from chance of their own: the same run gives the same lines. */
export function eventMaker(): (flight: Flight) => string {
  const newId = idMaker('ev', seededChance('event log').random);
  return ({ exchange, endMs }) => {
    const event = {
      event_id: newId(endMs),
      event_type: 'http_request_complete.v0',
      event_timestamp: timestamp(endMs),
      object: httpRequestComplete(exchange),
    };
    return `${JSON.stringify(event)}\n`;
  };
}

/** Keeps the events of a run, in the order in which requests were complete. */
export interface EventLog {
  readonly landed: (flight: Flight) => void;
  readonly write: (path: string) => Promise<void>;
}

export function eventLog(): EventLog {
  const make = eventMaker();
  const lines: string[] = [];
  return {
    landed: (flight) => void lines.push(make(flight)),
    write: (path) => writeFile(path, lines.join('')),
  };
}
