import type { EventSource } from './sources.ts';
import type { TargetSettings, TargetWorld } from './targets.ts';

/** Access of the delivery to the store. Audit events are stored, so that they survive a restart. */
export interface Outbox {
  readonly destinations: () => Promise<readonly { readonly id: string; readonly target: TargetSettings }[]>;
  readonly subscriptions: () => Promise<
    readonly { readonly sources: readonly EventSource[]; readonly destinations: readonly string[] }[]
  >;
  /** The oldest pending events of a destination, as JSON. */
  readonly waiting: (
    destination: string,
    limit: number,
  ) => Promise<readonly { readonly sequence: number; readonly event: string }[]>;
  /** Number of pending deliveries of a destination. */
  readonly waitingCount: (destination: string) => Promise<number>;
  readonly deadCount: (destination: string) => Promise<number>;
  /** Removes completed deliveries, and keeps dead letters, in one transaction. */
  readonly settle: (
    destination: string,
    sequences: readonly number[],
    dead: readonly { readonly event: string; readonly reason: string }[],
  ) => Promise<void>;
}

export interface DeliveryOptions extends TargetWorld {
  readonly random: () => number;
  /** Maximum size of traffic events in memory per destination; further ones are dropped and counted. */
  readonly bufferLimitBytes?: number;
  /** First delay after a failure; it doubles up to 60 s. */
  readonly retryMs?: number;
}
