import { requireOptionalPeer } from '../loading/optional_peer.ts';
import type { GuardedDial } from './guarded_dial.ts';
import { type NatsConnection, type NatsSettings, natsConnector } from './nats.ts';

/** A message of a stream that this process has for a while. */
interface QueuedMessage {
  readonly value: string;
  /** Resolves when the server has noted that the message is done. */
  readonly done: () => Promise<void>;
  /** Gives it back, to this or another process. */
  readonly again: (delayMs: number) => void;
  /** Gives it up for good. */
  readonly refuse: (reason: string) => void;
}

interface JsMessage {
  readonly string: () => string;
  readonly ackAck: () => Promise<boolean>;
  readonly nak: (delayMs: number) => void;
  readonly term: (reason: string) => void;
}
interface Messages extends AsyncIterable<JsMessage> {
  readonly stop: () => void;
}
interface JetStreamPackage {
  readonly jetstream: (connection: NatsConnection) => {
    readonly consumers: {
      readonly get: (
        stream: string,
        name: string,
      ) => Promise<{ readonly consume: (options: object) => Promise<Messages> }>;
    };
  };
  readonly jetstreamManager: (connection: NatsConnection) => Promise<{
    readonly streams: { readonly find: (subject: string) => Promise<string> };
    readonly consumers: { readonly add: (stream: string, options: object) => Promise<unknown> };
  }>;
}

/** A group of processes that share the messages of a subject. */
export interface GroupSettings {
  /** The name of the durable consumer, the same for all processes. */
  readonly group: string;
  /** How long a process may have a message before another one gets it. */
  readonly ackMs: number;
  /** Messages that a process may have. */
  readonly most: number;
}

const NS_PER_MS = 1_000_000;

/**
 * Takes part in a group, until the connection ends: `take` gets each message. Resolves when it takes part; `over` then resolves at the
 * end. Rejects if the server cannot be reached, or has no stream for the subject.
 */
export async function joinGroup(
  settings: NatsSettings,
  dial: GuardedDial,
  { group, ackMs, most }: GroupSettings,
  take: (message: QueuedMessage) => void,
): Promise<{
  readonly over: Promise<unknown>;
  readonly leave: () => void;
  readonly close: () => Promise<void>;
}> {
  const { jetstream, jetstreamManager } = requireOptionalPeer(
    '@nats-io/jetstream',
    'a queue of NATS',
  ) as JetStreamPackage;
  const connection = await natsConnector(settings, dial)();
  try {
    const { subject } = settings;
    const manager = await jetstreamManager(connection);
    const stream = await manager.streams.find(subject);
    await manager.consumers.add(stream, {
      durable_name: group,
      filter_subject: subject,
      ack_policy: 'explicit',
      ack_wait: ackMs * NS_PER_MS,
      max_ack_pending: Math.max(1_000, 8 * most),
    });
    const consumer = await jetstream(connection).consumers.get(stream, group);
    const messages = await consumer.consume({ max_messages: most });
    const read = async (): Promise<void> => {
      for await (const message of messages) take(queuedOf(message));
    };
    return {
      over: Promise.race([read(), connection.closed()]),
      leave: () => messages.stop(),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function queuedOf(message: JsMessage): QueuedMessage {
  return {
    value: message.string(),
    done: async () => void (await message.ackAck()),
    again: (delayMs) => whileConnected(() => message.nak(delayMs)),
    refuse: (reason) => whileConnected(() => message.term(reason)),
  };
}

/** What a lost connection cannot say, the server finds out when its time for the message is over. */
function whileConnected(say: () => void): void {
  try {
    say();
  } catch {
    // The message is handed out again.
  }
}
