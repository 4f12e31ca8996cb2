import { eventSubscriptions } from '../resources/events.ts';
import type { Transaction, View } from '../store/port.ts';

/** The destinations of events in writes, kept in memory until a subscription changes. */
export interface Subscribers {
  /** Ids of the destinations that are subscribed to an event type. */
  readonly of: (type: string, transaction: Transaction) => Promise<readonly string[]>;
  /** Must be called in every write of a subscription. */
  readonly changed: (transaction: Pick<Transaction, 'undone'>) => void;
}

export function subscribers(): Subscribers {
  let known: ReadonlyMap<string, readonly string[]> | null = null;
  const forget = (): void => void (known = null);
  return {
    of: async (type, transaction) => (known ??= await destinationsByType(transaction)).get(type) ?? [],
    changed: (transaction) => {
      forget();
      transaction.undone(forget);
    },
  };
}

async function destinationsByType(view: View): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, Set<string>>();
  for (const { body } of await view.all([eventSubscriptions.kind])) {
    for (const { type } of body['sources'] as readonly { readonly type: string }[]) {
      const destinations = found.get(type) ?? new Set();
      found.set(type, destinations);
      for (const id of body['destination_ids'] as readonly string[]) destinations.add(id);
    }
  }
  return new Map(Array.from(found, ([type, destinations]) => [type, [...destinations]]));
}
