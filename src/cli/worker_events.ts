import { eventJson } from '../events/json.ts';
import type { LostEvents } from '../events/lost.ts';
import type { EventSink } from '../events/ndjson.ts';
import type { WorkerMessage } from './workers.ts';

/** As much as may wait for a file or a queue; in UTF-16 code units. */
const WAITING_LIMIT = 64 * 1024 * 1024;
/** How long the end of a worker waits for the first process to take its events. */
const CLOSE_MS = 5_000;

/**
 * The event sink of a worker: it sends events to the first process, those of one turn of the event loop in one message. They wait
 * in memory while that process is busy; those beyond the limit are lost, and counted.
 */
export function workerSink(lost: LostEvents): EventSink {
  let batch: string[] = [];
  let waiting = 0;
  let idle = Promise.withResolvers<void>();
  const sent = (events: readonly string[], error: Error | null): void => {
    for (const { length } of events) waiting -= length;
    if (error !== null) lost.add('not_written', events.length, GONE);
    if (waiting === 0) idle.resolve();
  };
  const flush = (): void => {
    const events = batch;
    batch = [];
    if (events.length === 0) return;
    if (!process.connected) return sent(events, new Error(GONE));
    const message: WorkerMessage = { events };
    process.send!(message, undefined, undefined, (error) => sent(events, error));
  };
  return {
    write: (event) => {
      let json: string;
      try {
        json = eventJson(event);
      } catch (error) {
        return lost.add('not_made', 1, String(error));
      }
      if (waiting + json.length > WAITING_LIMIT)
        return lost.add('too_slow', 1, 'events arrive faster than the first process takes them');
      waiting += json.length;
      if (batch.push(json) === 1) setImmediate(flush);
    },
    close: async () => {
      flush();
      if (waiting === 0) return;
      idle = Promise.withResolvers();
      const timer = setTimeout(idle.resolve, CLOSE_MS);
      await idle.promise;
      clearTimeout(timer);
    },
  };
}

const GONE = 'the process that writes them is gone';
