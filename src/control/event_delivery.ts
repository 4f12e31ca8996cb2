import { type CallbackReach, callbackPost } from '../clients/callback_post.ts';
import { guardedDial } from '../clients/guarded_dial.ts';
import { kafkaQueue } from '../clients/kafka.ts';
import { natsQueue } from '../clients/nats.ts';
import type { AwsCredentials } from '../crypto/aws_signature.ts';
import type { EdgeOptions } from '../edgeproof.ts';
import { type Delivering, deliver } from '../events/delivery.ts';
import type { DeliveryOptions } from '../events/outbox.ts';
import type { Deliveries } from './api/contract.ts';
import { outboxOf } from './outbox.ts';
import type { Store } from './store/port.ts';

/** Credentials that may assume the roles of event destinations, and other addresses of services. */
export interface CloudOptions {
  readonly aws?: AwsCredentials;
  readonly endpoint?: NonNullable<DeliveryOptions['endpoint']>;
}

/** How events are delivered. */
export interface DeliveringOptions {
  readonly delivery?: Partial<DeliveryOptions>;
  /** What the operator gives to event destinations in clouds. */
  readonly cloud?: CloudOptions;
  /** Folder for files of event destinations; absent: such destinations are refused. */
  readonly eventFiles?: string;
}

/** Starts the deliverer of events. */
export function delivery(
  store: Store,
  { delivery: given = {}, eventFiles, cloud = {} }: DeliveringOptions,
  {
    reach,
    nowMs,
    accountId,
  }: Pick<DeliveryOptions, 'nowMs'> & {
    readonly reach: CallbackReach;
    readonly accountId: string;
  },
): Promise<Delivering> {
  const dial = guardedDial(reach);
  return deliver(outboxOf(store), {
    nowMs,
    random: Math.random,
    say: sayLine,
    ...(eventFiles !== undefined && { eventFiles }),
    post: callbackPost(reach),
    queues: {
      nats: (settings) => natsQueue(settings, dial),
      kafka: (settings) => kafkaQueue(settings, dial),
    },
    aws: { externalId: accountId, ...(cloud.aws && { credentials: cloud.aws }) },
    ...(cloud.endpoint && { endpoint: cloud.endpoint }),
    ...given,
  });
}

/** Passes traffic events to the deliverer, then to the given listeners. */
export function heardBy(
  delivering: Delivering,
  accountId: string,
  given: EdgeOptions,
): Required<Pick<EdgeOptions, 'onEvent' | 'onConnection' | 'onHttpConnection' | 'tracing'>> {
  const send: Delivering['traffic'] = (event, explain) =>
    delivering.traffic(Object.assign({}, event, { account_id: accountId, principal: null }), explain);
  return {
    tracing: () => delivering.wantsSpans() || given.tracing?.() === true,
    onEvent: (event, explain) => {
      send(event, explain);
      given.onEvent?.(event, explain);
    },
    onConnection: (event, explain) => {
      send(event);
      given.onConnection?.(event, explain);
    },
    onHttpConnection: (event) => {
      send(event);
      given.onHttpConnection?.(event);
    },
  };
}

export function sayLine(text: string): void {
  process.stdout.write(text);
}

export function deliveriesOf(delivering: Delivering): Deliveries {
  const { changed, wake, dropped, statusOf } = delivering;
  return { changed, wake, dropped, statusOf };
}
