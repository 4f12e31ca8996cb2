import { type Socket, connect, isIP } from 'node:net';
import { requireOptionalPeer } from '../loading/optional_peer.ts';
import type { GuardedDial } from './guarded_dial.ts';

export interface KafkaSettings {
  /** `host:port` each. */
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly tls: boolean;
  readonly sasl?: { readonly mechanism: string; readonly username: string; readonly password: string };
}

interface Message {
  readonly id: string;
  readonly key: string;
  readonly value: string;
}

/** The parts of kafkajs that are used here. */
interface KafkaJs {
  readonly logLevel: { readonly NOTHING: number };
  readonly Kafka: new (options: object) => { readonly producer: (options: object) => Producer };
}
interface Producer {
  readonly connect: () => Promise<void>;
  readonly send: (record: object) => Promise<unknown>;
  readonly disconnect: () => Promise<void>;
}

const CONNECT_MS = 5_000;
const REQUEST_MS = 15_000;
const KEEP_ALIVE_MS = 60_000;
/** Retries of one batch inside the client, with the sequence numbers by which brokers drop repetitions. */
const RETRIES = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 };
const ALL_REPLICAS = -1;
const TOO_LARGE = /^(?:MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE)$/;

/** What became of the messages: null if all are stored. */
type Outcome = { readonly problem: string; readonly isTooLarge: boolean } | null;

/**
 * Produces records with `acks=all` by an idempotent producer. Every broker is dialled through the guard, also those
 * that only the metadata name.
 */
export function kafkaQueue({ brokers, topic, tls, sasl }: KafkaSettings, dial: GuardedDial) {
  let current: Promise<Producer> | null = null;

  const socketFactory = ({ host, port, ssl, onConnect }: SocketRequest): Socket => {
    dial.check(host);
    const options = { host, port, lookup: dial.lookup };
    // Addresses are not names of servers (RFC 6066 §3); the certificate must have the address instead.
    const named = isIP(host) === 0 ? { servername: host } : {};
    // The module is loaded for brokers with TLS only: it reads all root certificates.
    const socket = ssl
      ? process.getBuiltinModule('node:tls').connect({ ...options, ...named }, onConnect)
      : connect(options, onConnect);
    return socket.setKeepAlive(true, KEEP_ALIVE_MS);
  };

  async function start(): Promise<Producer> {
    const { Kafka, logLevel } = requireOptionalPeer('kafkajs', 'the target kafka') as KafkaJs;
    const kafka = new Kafka({
      clientId: 'edgeproof',
      brokers,
      ssl: tls,
      ...(sasl && { sasl }),
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      logLevel: logLevel.NOTHING,
      retry: RETRIES,
      socketFactory,
    });
    const producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      retry: RETRIES,
    });
    await producer.connect();
    return producer;
  }

  const close = async (): Promise<void> => {
    const producer = await current?.catch(() => null);
    current = null;
    await producer?.disconnect().catch(() => {});
  };
  return {
    publish: async (messages: readonly Message[]): Promise<Outcome> => {
      try {
        const producer = await (current ??= start());
        await producer.send({
          topic,
          acks: ALL_REPLICAS,
          timeout: REQUEST_MS,
          messages: messages.map(({ id, key, value }) => ({ key, value, headers: { event_id: id } })),
        });
        return null;
      } catch (error) {
        // After a failure the sequence numbers are unknown; a new producer begins at zero.
        void close();
        const { message, type = '' } = rootOf(error as KafkaError);
        return { problem: message, isTooLarge: TOO_LARGE.test(type) };
      }
    },
    close,
  };
}

interface SocketRequest {
  readonly host: string;
  readonly port: number;
  readonly ssl: unknown;
  readonly onConnect: () => void;
}

interface KafkaError extends Error {
  readonly type?: string;
  readonly cause?: KafkaError;
}

/** Errors about retries wrap the one that says why. */
function rootOf(error: KafkaError): KafkaError {
  return error.type === undefined && error.cause instanceof Error ? rootOf(error.cause) : error;
}
