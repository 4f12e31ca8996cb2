import {
  type CloudWorld,
  type KafkaSettings,
  type NatsSettings,
  type Sent,
  type Target,
  envelopeOf,
  withoutSender,
} from './sending.ts';
import { counted } from '../../diagnostics/message_text.ts';

/** Queues with clients of their own: NATS JetStream and Kafka. */

/** One call publishes 256 messages; 1 MiB is the default of `max_payload`, headers included (NATS, server configuration). */
const NATS_LIMITS = { events: 256, bytes: 4 * 1_048_576, eventBytes: 1_048_576, overheadBytes: 64 };

/** A batch of records is at most `max.message.bytes`, 1,048,588 by default (Apache Kafka, topic configurations). */
const KAFKA_LIMITS = { events: 1_000, bytes: 1_000_000, eventBytes: 1_000_000, overheadBytes: 128 };

export function natsTarget(settings: NatsSettings, world: CloudWorld): Target {
  const queue = world.queues?.nats(settings);
  if (queue === undefined) return withoutSender('this instance has no client for NATS');
  return queueTarget(NATS_LIMITS, queue, async (events) => {
    const outcomes = await queue.publish(
      events.map((event) => ({ id: envelopeOf(event).event_id, value: event })),
    );
    const refused = outcomes.flatMap((outcome, index) => (outcome === null ? [] : [{ ...outcome, index }]));
    const again = refused.filter(({ isFinal }) => !isFinal);
    return {
      problem:
        again.length === 0 ? null : `nats refused ${counted(again.length, 'message')}: ${again[0]!.problem}`,
      again: again.map(({ index }) => index),
      dead: refused.filter(({ isFinal }) => isFinal).map(({ index, problem: reason }) => ({ index, reason })),
    };
  });
}

/** The key of a record is the type of its event, so that a partition keeps the order of a source. */
export function kafkaTarget(settings: KafkaSettings, world: CloudWorld): Target {
  const queue = world.queues?.kafka(settings);
  if (queue === undefined) return withoutSender('this instance has no client for Kafka');
  return queueTarget(KAFKA_LIMITS, queue, async (events) => {
    const records = events.map((event) => {
      const { event_id: id, event_type: key } = envelopeOf(event);
      return { id, key, value: event };
    });
    const outcome = await queue.publish(records);
    if (outcome === null) return { problem: null };
    return { problem: `kafka: ${outcome.problem}`, ...(outcome.isTooLarge && { divide: true as const }) };
  });
}

/** A queue that restarts is back in seconds; what waits for it is in memory, so it is asked often. */
const RETRY_LIMIT_MS = 1_000;

function queueTarget(
  limits: NonNullable<Target['limits']>,
  { close }: { readonly close: () => Promise<void> },
  send: (events: readonly string[]) => Promise<Sent>,
): Target {
  const givenUp = Promise.withResolvers<Sent>();
  return {
    problem: null,
    limits,
    retryLimitMs: RETRY_LIMIT_MS,
    send: (events) => Promise.race([send(events), givenUp.promise]),
    giveUp: () => givenUp.resolve({ problem: 'no acknowledgement in time' }),
    close,
  };
}
