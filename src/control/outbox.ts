import type { Outbox } from '../events/outbox.ts';
import type { EventSource } from '../events/sources.ts';
import type { TargetSettings } from '../events/targets.ts';
import type { Store } from './store/port.ts';

/** The store as the queue of the deliverer. */
export function outboxOf(store: Store): Outbox {
  return {
    destinations: async () => {
      const objects = await store.read((view) => view.all(['event_destination']));
      return objects.map(({ id, body }) => ({ id, target: body['target'] as TargetSettings }));
    },
    subscriptions: async () => {
      const objects = await store.read((view) => view.all(['event_subscription']));
      return objects.map(({ body }) => ({
        sources: body['sources'] as readonly EventSource[],
        destinations: body['destination_ids'] as readonly string[],
      }));
    },
    // Of several nodes one delivers what is stored; each delivers the events of its traffic.
    waiting: async (destination, limit) =>
      store.nodes?.leads() === false ? [] : store.read((view) => view.waiting(destination, limit)),
    waitingCount: (destination) => store.read((view) => view.waitingCount(destination)),
    deadCount: (destination) => store.read((view) => view.deadLetterCount(destination)),
    settle: (destination, sequences, dead) =>
      store.write(async (transaction) => {
        await transaction.delivered(sequences);
        if (dead.length > 0) await transaction.bury(destination, dead);
      }),
  };
}
