import type { Outbox } from '../../../src/events/outbox.ts';
import type { TargetSettings } from '../../../src/events/targets.ts';

/** A store of deliveries in memory, for one subscription of everything. */
export interface MemoryOutbox extends Outbox {
  readonly dead: { readonly destination: string; readonly event: string; readonly reason: string }[];
  readonly add: (event: string) => void;
}

export function memoryOutbox(targets: Readonly<Record<string, TargetSettings>>): MemoryOutbox {
  const ids = Object.keys(targets);
  const dead: MemoryOutbox['dead'] = [];
  const stored: { sequence: number; destination: string; event: string }[] = [];
  const of = (id: string) => stored.filter(({ destination }) => destination === id);
  let last = 0;
  return {
    dead,
    add: (event) => ids.forEach((destination) => stored.push({ sequence: ++last, destination, event })),
    destinations: async () => ids.map((id) => ({ id, target: targets[id]! })),
    subscriptions: async () => [{ sources: [{ type: 'http_request_complete.v0' }], destinations: ids }],
    waiting: async (id, limit) => of(id).slice(0, limit),
    waitingCount: async (id) => of(id).length,
    deadCount: async (id) => dead.filter(({ destination }) => destination === id).length,
    settle: async (destination, sequences, letters) => {
      const done = new Set(sequences);
      stored.splice(0, stored.length, ...stored.filter(({ sequence }) => !done.has(sequence)));
      dead.push(...letters.map((letter) => ({ destination, ...letter })));
    },
  };
}

/** An event with a stable id, and text of a given length. */
export function eventOf(number: number, length = 10, second = number % 60): string {
  return JSON.stringify({
    event_id: `ev_${String(number).padStart(5, '0')}`,
    event_type: 'vault_created.v0',
    event_timestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
    object: { text: 'x'.repeat(length) },
  });
}

/** Without parsing: tests ask again and again, also for events of half a megabyte. */
export function idOf(event: string): string {
  return /"event_id":"([^"]+)"/.exec(event)![1]!;
}
