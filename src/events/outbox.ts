import type { EventSource } from './sources.ts';
import type { TargetSettings, TargetWorld } from './targets.ts';

/** What delivery needs of the store. Audit events wait in it, so that they survive a restart. */
export interface Outbox {
  readonly destinations: () => Promise<readonly { readonly id: string; readonly target: TargetSettings }[]>;
  readonly subscriptions: () => Promise<
    readonly { readonly sources: readonly EventSource[]; readonly destinations: readonly string[] }[]
  >;
  /** The oldest events that wait for a destination, as JSON. */
  readonly waiting: (
    destination: string,
    limit: number,
  ) => Promise<readonly { readonly sequence: number; readonly event: string }[]>;
  /** How many deliveries wait for a destination. */
  readonly waitingCount: (destination: string) => Promise<number>;
  readonly delivered: (sequences: readonly number[]) => Promise<void>;
}

export interface DeliveryOptions extends TargetWorld {
  readonly random: () => number;
  /** Bytes of traffic events that wait in memory for one destination; more are dropped and counted. */
  readonly bufferLimitBytes?: number;
  /** First pause after a failure; it doubles up to 60 s. */
  readonly retryMs?: number;
}
