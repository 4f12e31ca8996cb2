import { type Capture, captureOf } from './sources.ts';
import { isTrafficType } from './event_types.ts';
import type { DeliveryOptions, Outbox } from './outbox.ts';
import { type Target, targetOf } from './targets.ts';
import { type Worker, type WorkerStatus, startWorker } from './worker.ts';

/** The delivery of events. */
export interface Delivering {
  /** Accepts a traffic event; never blocks. */
  readonly traffic: (event: { readonly event_type: string; readonly object: object }) => void;
  /** Must be called after changes of subscriptions, destinations or pending events. */
  readonly changed: () => void;
  /** Delivery status of a destination. */
  readonly statusOf: (id: string) => WorkerStatus;
  /** Resolves when all earlier changes have been processed. */
  readonly settled: () => Promise<void>;
  /** Stops; pending events in the store are delivered after the next start. */
  readonly close: () => Promise<void>;
}

interface Subscriber {
  readonly capture: Capture;
  readonly destinations: readonly string[];
}

/** Delay before a failed read of the store is repeated. */
const REREAD_MS = 1_000;

/** Starts delivering pending and new events. */
export async function deliver(outbox: Outbox, options: DeliveryOptions): Promise<Delivering> {
  const workers = new Map<
    string,
    { readonly worker: Worker; readonly settings: string; readonly target: Target }
  >();
  let takers: ReadonlyMap<string, readonly Subscriber[]> = new Map();
  let reading: Promise<void> = Promise.resolve();
  let closed = false;
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
    takers = subscribersOf(await outbox.subscriptions());
  }

  const changed = (): void => {
    clearTimeout(again);
    reading = reading.then(reload).catch((error: unknown) => {
      options.say(`cannot read pending deliveries: ${String(error)}\n`);
      if (!closed) again = setTimeout(changed, REREAD_MS).unref();
    });
  };
  changed();
  await reading;

  return {
    traffic: (event) => {
      for (const { capture, destinations } of takers.get(event.event_type) ?? []) {
        const object = capture(event.object);
        if (object === null) continue;
        const text = JSON.stringify({ ...event, object });
        for (const id of destinations) workers.get(id)?.worker.take(text);
      }
    },
    changed,
    statusOf: (id) =>
      workers.get(id)?.worker.status() ?? { state: 'starting', message: '', waiting: 0, dropped: 0 },
    settled: () => reading,
    close: async () => {
      closed = true;
      clearTimeout(again);
      await reading;
      await Promise.all(Array.from(workers.values(), ({ worker }) => worker.stop()));
    },
  };
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
