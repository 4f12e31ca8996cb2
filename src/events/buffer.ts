/** Traffic events in memory, bounded in size; events beyond the limit are dropped and counted. */
export interface EventBuffer {
  /** False if the event was dropped. */
  readonly take: (event: string) => boolean;
  /** The oldest events, without removing them. */
  readonly oldest: (limit: number) => readonly string[];
  readonly remove: (count: number) => void;
  readonly waiting: () => number;
  readonly dropped: () => number;
}

/** Creates a buffer with a limit in UTF-16 units, which equals bytes for ASCII. */
export function eventBuffer(limitUnits: number): EventBuffer {
  let events: string[] = [];
  let units = 0;
  let dropped = 0;
  return {
    take: (event) => {
      if (units + event.length > limitUnits) {
        dropped++;
        return false;
      }
      events.push(event);
      units += event.length;
      return true;
    },
    oldest: (limit) => events.slice(0, limit),
    remove: (count) => {
      units -= events.slice(0, count).reduce((sum, event) => sum + event.length, 0);
      events = events.slice(count);
    },
    waiting: () => events.length,
    dropped: () => dropped,
  };
}
