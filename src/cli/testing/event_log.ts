import { writeFile } from 'node:fs/promises';
import { idMaker } from '../../events/identifiers.ts';
import { httpRequestComplete } from '../../events/project.ts';
import { timestamp } from '../../events/timestamps.ts';
import type { Flight } from '../../simulator/flight.ts';
import { seededChance } from '../../simulator/chance.ts';

/** Keeps the events of a run, in the order in which requests were complete. */
export interface EventLog {
  readonly landed: (flight: Flight) => void;
  readonly write: (path: string) => Promise<void>;
}

/** Event ids come from chance of their own: the same run gives the same file, byte for byte. */
export function eventLog(): EventLog {
  const newId = idMaker('ev', seededChance('event log').random);
  const lines: string[] = [];
  return {
    landed: ({ exchange, endMs }) => {
      const event = {
        event_id: newId(endMs),
        event_type: 'http_request_complete.v0',
        event_timestamp: timestamp(endMs),
        object: httpRequestComplete(exchange),
      };
      lines.push(`${JSON.stringify(event)}\n`);
    },
    write: (path) => writeFile(path, lines.join('')),
  };
}
