import { type Capture, captureOf } from './sources.ts';
import { isTrafficType } from './event_types.ts';
import type { DeliveryOptions, Outbox } from './outbox.ts';
import { type Explained, spanFactsOf } from './otlp/signals.ts';
import type { Target } from './senders/sending.ts';
import { targetOf } from './targets.ts';
import { STARTING, type Worker, type WorkerStatus, startWorker } from './worker.ts';

/** The delivery of events. */
export interface Delivering {
  /** Accepts a traffic event, and how to explain its exchange if it has one; never blocks. */
  readonly traffic: (event: TrafficEvent, explain?: () => Explained) => void;
  /** Whether a destination wants traces. */
  readonly wantsSpans: () => boolean;
  /** Must be called after changes of subscriptions or destinations; resolves when they are effective. */
  readonly changed: () => Promise<void>;
  /** Must be called when destinations have more pending events. */
  readonly wake: (destinations: Iterable<string>) => void;
  /** Counts pending events of a destination that were dropped. */
  readonly dropped: (destination: string, count: number) => void;
  /** Delivery status of a destination. */
  readonly statusOf: (id: string) => WorkerStatus;
  /** Resolves when all earlier changes have been processed. */
  readonly settled: () => Promise<void>;
  /** Stops; pending events in the store are delivered after the next start. */
  readonly close: () => Promise<void>;
}

interface TrafficEvent {
  readonly event_id: string;
  readonly event_type: string;
  readonly object: object;
}

interface Subscriber {
  readonly capture: Capture;
  readonly destinations: readonly string[];
}

/** The worker of a destination, and what it was started with. */
interface Running {
  readonly worker: Worker;
  readonly settings: string;
  readonly target: Target;
}

/** Delay before a failed read of the store is repeated. */
const REREAD_MS = 1_000;

/** Starts delivering pending and new events. */
export async function deliver(outbox: Outbox, options: DeliveryOptions): Promise<Delivering> {
  const workers = new Map<string, Running>();
  let takers: ReadonlyMap<string, readonly Subscriber[]> = new Map();
  let reading: Promise<void> = Promise.resolve();
  let [isTraced, closed] = [false, false];
  let again: NodeJS.Timeout | undefined;

  async function reload(): Promise<void> {
    if (closed) return;
    const destinations = await outbox.destinations();
    const kept = new Set(destinations.map(({ id }) => id));
    for (const [id, { worker }] of workers) {
      if (kept.has(id)) continue;
      workers.delete(id);
      void worker.stop();
    }
    for (const { id, target } of destinations) {
      const settings = JSON.stringify(target);
      const running = workers.get(id);
      if (running?.settings === settings) await running.worker.wake();
      else {
        void running?.worker.stop();
        const made = targetOf(id, target, options);
        const worker = startWorker(id, made, outbox, options);
        workers.set(id, { worker, settings, target: made });
        await worker.wake();
      }
    }
    isTraced = Array.from(workers.values()).some(({ target }) => target.wantsSpans === true);
    takers = subscribersOf(await outbox.subscriptions());
  }

  const after = (work: () => Promise<void>): Promise<void> => {
    reading = reading.then(work).catch((error: unknown) => {
      options.say(`cannot read pending deliveries: ${String(error)}\n`);
      clearTimeout(again);
      if (!closed) again = setTimeout(() => void changed(), REREAD_MS).unref();
    });
    return reading;
  };
  const changed = (): Promise<void> => {
    clearTimeout(again);
    return after(reload);
  };
  await changed();

  return {
    traffic: (event, explain) => offer(event, takers.get(event.event_type) ?? [], workers, explain),
    wantsSpans: () => isTraced,
    changed,
    wake: (ids) =>
      void after(async () => {
        for (const id of ids) await workers.get(id)?.worker.wake();
      }),
    dropped: (id, count) => workers.get(id)?.worker.dropped(count),
    statusOf: (id) => workers.get(id)?.worker.status() ?? STARTING,
    settled: () => reading,
    close: async () => {
      closed = true;
      clearTimeout(again);
      await reading;
      await Promise.all(Array.from(workers.values(), ({ worker }) => worker.stop()));
    },
  };
}

/** Gives a traffic event to the destinations of its subscribers. */
function offer(
  event: TrafficEvent,
  subscribers: readonly Subscriber[],
  workers: ReadonlyMap<string, Running>,
  explain?: () => Explained,
): void {
  for (const { capture, destinations } of subscribers) {
    const object = capture(event.object, event.event_id);
    if (object === null) continue;
    const text = JSON.stringify({ ...event, object });
    for (const id of destinations) {
      const running = workers.get(id);
      const wantsSpan = running?.target.wantsSpans === true && explain !== undefined;
      running?.worker.take(wantsSpan ? tracedText({ ...event, object }, explain) : text);
    }
  }
}

/** An event as JSON with the facts of its span. */
export function tracedText(event: TrafficEvent, explain: () => Explained): string {
  return JSON.stringify({ ...event, span: spanFactsOf(explain()) });
}

/** Subscribers of each type of traffic event. */
function subscribersOf(
  subscriptions: Awaited<ReturnType<Outbox['subscriptions']>>,
): ReadonlyMap<string, readonly Subscriber[]> {
  const takers = new Map<string, Subscriber[]>();
  for (const { sources, destinations } of subscriptions) {
    for (const source of sources) {
      if (!isTrafficType(source.type)) continue;
      const known = takers.get(source.type) ?? [];
      known.push({ capture: captureOf(source), destinations });
      takers.set(source.type, known);
    }
  }
  return takers;
}
