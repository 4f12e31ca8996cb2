import type { Outbox } from './outbox.ts';
import { type BatchLimits, type Sent, envelopeOf } from './senders/sending.ts';

/** An event to send, and its position in the store, if stored. */
interface Pending {
  readonly event: string;
  readonly sequence?: number;
}

/** The events that are sent next. They are unchanged until some are settled, so that receivers recognise repetitions. */
export interface Batch {
  readonly events: () => readonly string[];
  /** Keeps the events at these indexes; the others are delivered or dead. */
  readonly settle: (again: readonly number[], dead: NonNullable<Sent['dead']>) => Promise<void>;
  /** Leaves the first half of the events; the others are read again. */
  readonly halve: () => void;
  readonly isEmpty: () => boolean;
  /** Whether no further event would have fitted. */
  readonly isFull: boolean;
}

export const DEFAULT_LIMITS: BatchLimits = {
  events: 100,
  bytes: Number.POSITIVE_INFINITY,
  eventBytes: Number.POSITIVE_INFINITY,
  overheadBytes: 0,
};

/** The next events within the limits; audit events go first: they are few, and their delivery is guaranteed. */
export async function nextBatch(
  id: string,
  { outbox, buffer, limits = DEFAULT_LIMITS }: { outbox: Outbox; buffer: EventBuffer; limits?: BatchLimits },
): Promise<Batch | null> {
  const stored: readonly Pending[] = await storedEvents(id, outbox, limits);
  const found = stored.length > 0 ? stored : buffer.oldest(limits.events).map((event) => ({ event }));
  if (found.length === 0) return null;
  const { within, tooLarge, isCut } = cut(found, limits);
  if (tooLarge.length > 0) {
    const reason = `larger than the ${limits.eventBytes} bytes that the destination takes`;
    await settle(
      tooLarge,
      tooLarge.map(({ event }) => ({ event, reason })),
    );
  }
  let pending: readonly Pending[] = within;

  async function settle(
    settled: readonly Pending[],
    dead: readonly { readonly event: string; readonly reason: string }[],
  ): Promise<void> {
    const sequences = settled.flatMap(({ sequence }) => sequence ?? []);
    if (sequences.length > 0 || dead.length > 0) await outbox.settle(id, sequences, dead);
    buffer.remove(settled.flatMap(({ event, sequence }) => (sequence === undefined ? event : [])));
  }

  let events = pending.map(({ event }) => event);
  const keep = (kept: readonly Pending[]): void => {
    pending = kept;
    events = kept.map(({ event }) => event);
  };
  return {
    events: () => events,
    isEmpty: () => pending.length === 0,
    isFull: isCut || found.length >= limits.events,
    halve: () => keep(pending.slice(0, Math.ceil(pending.length / 2))),
    settle: async (again, dead) => {
      const kept = new Set(again);
      const settled = pending.filter((_, index) => !kept.has(index));
      if (settled.length === 0) return;
      await settle(
        settled,
        dead.map(({ index, reason }) => ({ event: pending[index]!.event, reason })),
      );
      keep(pending.filter((_, index) => kept.has(index)));
    },
  };
}

/** As many of the first events as fit, and those among them that are too large for the destination. */
function cut(
  found: readonly Pending[],
  { bytes, eventBytes, overheadBytes }: BatchLimits,
): { readonly within: readonly Pending[]; readonly tooLarge: readonly Pending[]; readonly isCut: boolean } {
  const within: Pending[] = [];
  const tooLarge: Pending[] = [];
  let total = 0;
  let isCut = false;
  for (const each of found) {
    const size = Buffer.byteLength(each.event) + overheadBytes;
    if (size > eventBytes) {
      tooLarge.push(each);
      continue;
    }
    total += size;
    isCut = total > bytes;
    if (isCut) break;
    within.push(each);
  }
  return { within, tooLarge, isCut };
}

/** Events are read from the store in steps, so that large ones do not fill the memory. */
const FIRST_READ = 100;

async function storedEvents(
  id: string,
  outbox: Outbox,
  { events: most, bytes }: BatchLimits,
): Promise<readonly Pending[]> {
  for (let count = Math.min(FIRST_READ, most); ; count = Math.min(4 * count, most)) {
    const read = await outbox.waiting(id, count);
    const size = read.reduce((sum, { event }) => sum + event.length, 0);
    if (count === most || read.length < count || size >= bytes) return read;
  }
}

/** Milliseconds since the oldest of some events; 0 without events. */
export function ageOf(events: readonly string[], nowMs: number): number {
  const [first] = events;
  return first === undefined ? 0 : Math.max(0, nowMs - Date.parse(envelopeOf(first).event_timestamp));
}

/** Traffic events in memory, bounded in size; events beyond the limit are dropped and counted. */
export interface EventBuffer {
  /** False if the event was dropped. */
  readonly take: (event: string) => boolean;
  /** The oldest events, without removing them. */
  readonly oldest: (limit: number) => readonly string[];
  /** Removes events that are among the oldest. */
  readonly remove: (settled: readonly string[]) => void;
  readonly waiting: () => number;
  /** Size of the events in UTF-16 units. */
  readonly units: () => number;
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
    remove: (settled) => {
      const leaving = new Set(settled);
      const kept: string[] = [];
      let [at, left] = [0, settled.length];
      for (; left > 0 && at < events.length; at++) {
        const event = events[at]!;
        if (!leaving.has(event)) {
          kept.push(event);
          continue;
        }
        units -= event.length;
        left--;
      }
      events = [...kept, ...events.slice(at)];
    },
    waiting: () => events.length,
    units: () => units,
    dropped: () => dropped,
  };
}
