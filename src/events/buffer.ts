/** Traffic events that wait in memory, bounded in size: what does not fit is dropped and counted. */
export interface EventBuffer {
  /** False when the event was dropped. */
  readonly take: (event: string) => boolean;
  /** The oldest events; they stay until they are removed. */
  readonly oldest: (limit: number) => readonly string[];
  readonly remove: (count: number) => void;
  readonly waiting: () => number;
  readonly dropped: () => number;
}

/** Makes a buffer that holds texts of so many UTF-16 units, which is their bytes where they are ASCII. */
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
