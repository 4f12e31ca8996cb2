import { type Batch, DEFAULT_LIMITS, type EventBuffer, ageOf, eventBuffer, nextBatch } from './batches.ts';
import type { DeliveryOptions, Outbox } from './outbox.ts';
import { pause } from './pause.ts';
import type { Sent, Target } from './senders/sending.ts';

/** Delivery status of a destination. */
export interface WorkerStatus {
  readonly state: 'starting' | 'ok' | 'failing' | 'not_supported';
  /** Why the last attempt failed; empty if it succeeded. */
  readonly message: string;
  /** Pending audit events in the store and traffic events in memory. */
  readonly waiting: number;
  /** Age of the oldest of them. */
  readonly waiting_ms: number;
  /** Events of traffic and of agents that were dropped because there were too many. */
  readonly dropped: number;
  /** Events that the destination refused for good, and that are kept. */
  readonly dead: number;
  /** The last failure of this process, or why the last event was refused for good; empty if there was none. */
  readonly last_error: string;
  /** RFC 3339; empty as above. */
  readonly last_error_at: string;
}

/** The status of a destination that has not begun. */
export const STARTING: WorkerStatus = {
  state: 'starting',
  message: '',
  waiting: 0,
  waiting_ms: 0,
  dropped: 0,
  dead: 0,
  last_error: '',
  last_error_at: '',
};

/** Delivers events to one destination, batch by batch. */
export interface Worker {
  /** Accepts a traffic event as JSON; false if it is dropped, because the buffer is full. */
  readonly take: (event: string) => boolean;
  /** Announces new audit events; resolves when they are counted. */
  readonly wake: () => Promise<void>;
  /** Counts stored events that were dropped. */
  readonly dropped: (count: number) => void;
  readonly status: () => WorkerStatus;
  /** Sends what waits, and stops: a second after the last success, or after ten. */
  readonly stop: () => Promise<void>;
}

const BUFFER_LIMIT_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 500;
const RETRY_LIMIT_MS = 60_000;
/** Time limit of each last attempt, and of all. */
const STOP_LIMIT_MS = 1_000;
const STOP_LIMITS_MS = 10_000;

/**
 * The outcome of an attempt: `idle` if nothing is pending. A failure may ask for a delay; a batch that is not
 * full may wait for more events.
 */
type Attempt = 'sent' | 'idle' | { readonly afterMs: number } | { readonly lingerMs: number };

/** Sends pending events of one destination. */
class Sender {
  readonly #id: string;
  readonly #target: Target;
  readonly #outbox: Outbox;
  readonly #nowMs: () => number;
  readonly buffer: EventBuffer;
  #batch: Batch | null = null;
  /** The last batch that was sent, perhaps without success. */
  #tried: Batch | null = null;
  message = '';
  lastError = { text: '', at: '' };
  /** Pending audit events and dead letters in the store at the last count. */
  stored = 0;
  dead = 0;

  constructor(id: string, target: Target, outbox: Outbox, { nowMs, bufferLimitBytes }: DeliveryOptions) {
    this.#id = id;
    this.#target = target;
    this.#outbox = outbox;
    this.#nowMs = nowMs;
    this.buffer = eventBuffer(target.problem === null ? (bufferLimitBytes ?? BUFFER_LIMIT_BYTES) : 0);
  }

  async recount(): Promise<void> {
    this.stored = await this.#outbox.waitingCount(this.#id);
    this.dead = await this.#outbox.deadCount(this.#id);
  }

  oldestMs(): number {
    const now = this.#nowMs();
    return Math.max(ageOf(this.#batch?.events() ?? [], now), ageOf(this.buffer.oldest(1), now));
  }

  /** Whether the traffic events fill a batch. */
  isFull(): boolean {
    const { events, bytes } = this.#target.limits ?? DEFAULT_LIMITS;
    return this.buffer.waiting() >= events || this.buffer.units() >= bytes;
  }

  /** The last attempt does not wait for more events. */
  async attempt(isLast: boolean): Promise<Attempt> {
    try {
      const { limits = DEFAULT_LIMITS } = this.#target;
      const around = { outbox: this.#outbox, buffer: this.buffer, limits };
      this.#batch ??= await nextBatch(this.#id, around);
      if (this.#batch === null) return 'idle';
      const lingerMs = isLast || this.#batch.isFull ? 0 : this.#lingerMs(this.#batch);
      if (lingerMs > 0) {
        this.#batch = null;
        return { lingerMs };
      }
      const failure = this.#batch.isEmpty() ? null : await this.#send(this.#batch);
      if (this.#batch.isEmpty()) this.#batch = null;
      await this.recount();
      if (failure !== null) return failure;
      this.message = '';
      return 'sent';
    } catch (error) {
      return this.#fail((error as Error).message);
    }
  }

  /** How long a new batch waits; one that was sent before does not, because it must not change. */
  #lingerMs(batch: Batch): number {
    const { lingerMs = 0 } = this.#target.limits ?? DEFAULT_LIMITS;
    if (lingerMs === 0 || this.#tried === batch) return 0;
    return Math.min(lingerMs, lingerMs - ageOf(batch.events(), this.#nowMs()));
  }

  /** Null if nothing failed. */
  async #send(batch: Batch): Promise<Attempt | null> {
    const events = batch.events();
    this.#tried = batch;
    const sent = await this.#target.send(events);
    const { problem, divide, notice } = sent;
    if (divide === true && events.length > 1) {
      batch.halve();
      return null;
    }
    const dead = divide === true ? [{ index: 0, reason: problem! }] : (sent.dead ?? []);
    await batch.settle(remaining(sent, events.length, dead), dead);
    const said = notice ?? dead.at(-1)?.reason;
    if (said !== undefined) this.#note(said);
    return problem === null || divide === true ? null : this.#fail(problem, sent.afterMs);
  }

  #fail(problem: string, afterMs = 0): Attempt {
    this.message = problem;
    this.#note(problem);
    return { afterMs };
  }

  #note(problem: string): void {
    this.lastError = { text: problem, at: new Date(this.#nowMs()).toISOString() };
  }
}

/** Indexes of the events to send again. */
function remaining(
  { problem, again }: Sent,
  count: number,
  dead: NonNullable<Sent['dead']>,
): readonly number[] {
  if (again !== undefined) return again;
  if (problem === null) return [];
  const lost = new Set(dead.map(({ index }) => index));
  return Array.from({ length: count }, (_, index) => index).filter((index) => !lost.has(index));
}

/** Starts delivering to one destination. */
export function startWorker(id: string, target: Target, outbox: Outbox, options: DeliveryOptions): Worker {
  const { retryMs = RETRY_MS, random } = options;
  const { retryLimitMs = RETRY_LIMIT_MS } = target;
  const [sender, rest] = [new Sender(id, target, outbox, options), pause()];
  let failures = 0;
  let stopping = false;
  let isLingering = false;
  let droppedInStore = 0;
  let lastAttempt: NodeJS.Timeout | undefined;

  async function linger(ms: number): Promise<void> {
    if (sender.isFull()) return;
    isLingering = true;
    await rest.wait(ms);
    isLingering = false;
  }

  async function run(): Promise<void> {
    for (;;) {
      const isLast = stopping;
      const went = await sender.attempt(isLast);
      const failed = typeof went === 'object' && 'afterMs' in went;
      failures = failed ? failures + 1 : 0;
      if (isLast && went !== 'sent') return;
      lastAttempt?.refresh();
      if (stopping) continue;
      if (went === 'idle') await rest.wait();
      else if (typeof went === 'object' && 'lingerMs' in went) await linger(went.lingerMs);
      // New events do not shorten the delay for a failing target.
      else if (failed) {
        const delayMs = Math.min(retryLimitMs, retryMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
        await rest.wait(Math.max(delayMs, went.afterMs));
      }
    }
  }

  const running = target.problem === null ? run() : Promise.resolve();
  return {
    take: (event) => {
      const isTaken = sender.buffer.take(event);
      if (isTaken) rest.wake(isLingering && sender.isFull());
      return isTaken;
    },
    wake: async () => {
      rest.wake();
      await sender.recount();
    },
    dropped: (count) => void (droppedInStore += count),
    status: () => ({
      state: target.problem !== null ? 'not_supported' : failures > 0 ? 'failing' : 'ok',
      message: target.problem ?? sender.message,
      waiting: sender.stored + sender.buffer.waiting(),
      waiting_ms: sender.oldestMs(),
      dropped: sender.buffer.dropped() + droppedInStore,
      dead: sender.dead,
      last_error: sender.lastError.text,
      last_error_at: sender.lastError.at,
    }),
    stop: async () => {
      stopping = true;
      rest.wake(true);
      lastAttempt = setTimeout(target.giveUp, STOP_LIMIT_MS);
      const end = setTimeout(target.giveUp, STOP_LIMITS_MS);
      await running;
      clearTimeout(lastAttempt);
      clearTimeout(end);
      await target.close();
    },
  };
}
