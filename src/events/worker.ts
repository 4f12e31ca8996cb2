import { type EventBuffer, eventBuffer } from './buffer.ts';
import type { DeliveryOptions, Outbox } from './outbox.ts';
import { pause } from './pause.ts';
import type { Target } from './targets.ts';

/** Delivery status of a destination. */
export interface WorkerStatus {
  readonly state: 'starting' | 'ok' | 'failing' | 'not_supported';
  /** Why the last attempt failed; empty if it succeeded. */
  readonly message: string;
  /** Pending audit events in the store and traffic events in memory. */
  readonly waiting: number;
  /** Traffic events that were dropped because the buffer was full. */
  readonly dropped: number;
}

/** Delivers events to one destination, batch by batch. */
export interface Worker {
  /** Accepts a traffic event as JSON; drops it if the buffer is full. */
  readonly take: (event: string) => void;
  /** Announces new audit events; resolves when they are counted. */
  readonly wake: () => Promise<void>;
  readonly status: () => WorkerStatus;
  /** Stops after one more attempt, within a second. */
  readonly stop: () => Promise<void>;
}

const BUFFER_LIMIT_BYTES = 16 * 1024 * 1024;
const BATCH_EVENTS = 100;
const RETRY_MS = 500;
const RETRY_LIMIT_MS = 60_000;
/** Time limit of the last attempt. */
const STOP_LIMIT_MS = 1_000;

interface Batch {
  readonly events: readonly string[];
  readonly done: () => Promise<void> | void;
}

/** Sends pending events of one destination. */
interface Sender {
  /** Sends one batch; returns whether it succeeded, or null if nothing is pending. */
  readonly attempt: () => Promise<boolean | null>;
  /** Why the last attempt failed; empty if it succeeded. */
  readonly message: () => string;
  /** Pending audit events in the store at the last count. */
  readonly stored: () => number;
  readonly recount: () => Promise<void>;
}

function senderOf(id: string, target: Target, outbox: Outbox, buffer: EventBuffer): Sender {
  let message = '';
  let stored = 0;
  let batch: Batch | null = null;
  const recount = async (): Promise<void> => {
    stored = await outbox.waitingCount(id);
  };
  return {
    message: () => message,
    stored: () => stored,
    recount,
    attempt: async () => {
      try {
        // A batch is unchanged until it was sent, so that receivers can recognise a repetition.
        batch ??= await nextBatch(id, outbox, buffer);
        if (batch === null) return null;
        const problem = await target.send(batch.events);
        message = problem ?? '';
        if (problem !== null) return false;
        await batch.done();
        batch = null;
        await recount();
        return true;
      } catch (error) {
        message = (error as Error).message;
        return false;
      }
    },
  };
}

/** Starts delivering to one destination. */
export function startWorker(
  id: string,
  target: Target,
  outbox: Outbox,
  { bufferLimitBytes = BUFFER_LIMIT_BYTES, retryMs = RETRY_MS, random }: DeliveryOptions,
): Worker {
  const buffer = eventBuffer(target.problem === null ? bufferLimitBytes : 0);
  const sender = senderOf(id, target, outbox, buffer);
  const rest = pause();
  let failures = 0;
  let stopping = false;

  async function run(): Promise<void> {
    for (;;) {
      const went = await sender.attempt();
      failures = went === false ? failures + 1 : 0;
      if (stopping && went !== true) return;
      if (went === null) await rest.wait();
      // New events do not shorten the delay for a failing target.
      else if (!went) {
        await rest.wait(Math.min(RETRY_LIMIT_MS, retryMs * 2 ** (failures - 1)) * (0.5 + random() / 2));
      }
    }
  }

  const running = target.problem === null ? run() : Promise.resolve();
  return {
    take: (event) => {
      if (buffer.take(event)) rest.wake();
    },
    wake: async () => {
      rest.wake();
      await sender.recount();
    },
    status: () => ({
      state: target.problem !== null ? 'not_supported' : failures > 0 ? 'failing' : 'ok',
      message: target.problem ?? sender.message(),
      waiting: sender.stored() + buffer.waiting(),
      dropped: buffer.dropped(),
    }),
    stop: async () => {
      stopping = true;
      rest.wake(true);
      const limit = setTimeout(target.giveUp, STOP_LIMIT_MS);
      await running;
      clearTimeout(limit);
      await target.close();
    },
  };
}

/** Audit events go first: they are few, and their delivery is guaranteed. */
async function nextBatch(id: string, outbox: Outbox, buffer: EventBuffer): Promise<Batch | null> {
  const waiting = await outbox.waiting(id, BATCH_EVENTS);
  if (waiting.length > 0) {
    const done = () => outbox.delivered(waiting.map(({ sequence }) => sequence));
    return { events: waiting.map(({ event }) => event), done };
  }
  const events = buffer.oldest(BATCH_EVENTS);
  return events.length === 0 ? null : { events, done: () => buffer.remove(events.length) };
}
