import { requireOptionalPeer } from '../loading/optional_peer.ts';
import type { GuardedDial } from './guarded_dial.ts';

export interface NatsSettings {
  /** Such as `nats://queue:4222` or `tls://queue`; the first that answers is used. */
  readonly servers: readonly string[];
  readonly subject: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
}

interface Message {
  readonly id: string;
  readonly value: string;
}

/** What became of a message: null if it is stored. */
type Outcome = { readonly problem: string; readonly isFinal: boolean; readonly isSilence?: true } | null;

/** The parts of the packages of NATS that are used here. */
interface Nats {
  readonly connect: (options: object) => Promise<NatsConnection>;
}
export interface NatsConnection {
  readonly info?: { readonly max_payload: number };
  readonly closed: () => Promise<unknown>;
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}
interface JetStream {
  readonly jetstream: (
    connection: NatsConnection,
    options: object,
  ) => { readonly publish: (subject: string, value: string, options: object) => Promise<unknown> };
}

const PURPOSE = 'the target nats';
const DEFAULT_PORT = '4222';
const CONNECT_MS = 5_000;
const ACK_MS = 10_000;
/** Bytes of a header with a message id, beside the id. */
const HEADER_BYTES = 32;
/** JetStream error 10054: the message is larger than the stream takes. */
const TOO_LARGE_FOR_STREAM = 10_054;

/** Opens a connection to the first server that answers. */
export function natsConnector({ servers, user, password, token }: NatsSettings, dial: GuardedDial) {
  async function connectTo(server: string): Promise<NatsConnection> {
    const { connect } = requireOptionalPeer('@nats-io/transport-node', PURPOSE) as Nats;
    const { protocol, hostname, port } = new URL(server);
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    let failed: unknown;
    for (const address of await dial.addressesOf(host)) {
      try {
        return await connect({
          servers: [`${address.includes(':') ? `[${address}]` : address}:${port || DEFAULT_PORT}`],
          name: 'edgeproof',
          timeout: CONNECT_MS,
          // Each connection is checked here, so the client makes none of its own.
          resolve: false,
          reconnect: false,
          ignoreClusterUpdates: true,
          ...(protocol === 'tls:' && { tls: { servername: host } }),
          ...(user !== undefined && { user }),
          ...(password !== undefined && { pass: password }),
          ...(token !== undefined && { token }),
        });
      } catch (error) {
        failed = error;
      }
    }
    throw failed;
  }

  return async (): Promise<NatsConnection> => {
    let failed: unknown;
    for (const server of servers) {
      try {
        return await connectTo(server);
      } catch (error) {
        failed = error;
      }
    }
    throw failed;
  };
}

/**
 * Publishes to JetStream and awaits the acknowledgement of each message. The id of a message is its `Nats-Msg-Id`,
 * by which a stream drops repetitions in its duplicate window. Addresses that servers announce are not dialled.
 */
export function natsQueue(settings: NatsSettings, dial: GuardedDial, ackMs = ACK_MS) {
  const connectToAny = natsConnector(settings, dial);
  let connected: Promise<NatsConnection> | null = null;

  /** The connection in use, or a new one; one that fails or ends is not used again. */
  function connectionInUse(): Promise<NatsConnection> {
    if (connected !== null) return connected;
    const opening = connectToAny();
    const over = (): void => {
      if (connected === opening) connected = null;
    };
    opening.then((connection) => connection.closed()).then(over, over);
    return (connected = opening);
  }

  return {
    publish: async (messages: readonly Message[]): Promise<readonly Outcome[]> => {
      const { jetstream } = requireOptionalPeer('@nats-io/jetstream', PURPOSE) as JetStream;
      const connection = await connectionInUse();
      const most = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
      const stream = jetstream(connection, { timeout: ackMs });
      const publish = ({ id, value }: Message): Promise<Outcome> =>
        Buffer.byteLength(value) + id.length + HEADER_BYTES > most
          ? Promise.resolve({ problem: `larger than the ${most} bytes that the server takes`, isFinal: true })
          : stream.publish(settings.subject, value, { msgID: id, retries: 1 }).then(() => null, outcomeOf);
      // A connection that ends answers neither.
      const gone = connection.closed().then(goneOf);
      const outcomes = Promise.all(messages.map((message) => Promise.race([publish(message), gone])));
      // Only silence shows that a server has gone without closing: the next attempt opens a connection.
      const silence = outcomes.then((all) => {
        if (!all.every((outcome) => outcome?.isSilence)) return new Promise(() => {});
        connected = null;
        return void connection.close();
      });
      // A refusal of the connection, such as for missing permissions, ends it before the answer to this.
      await Promise.race([connection.flush(), gone, silence]);
      return outcomes;
    },
    close: async (): Promise<void> => {
      const connection = await connected?.catch(() => null);
      await connection?.close();
    },
  };
}

function goneOf(error: unknown): Outcome {
  const problem = error instanceof Error ? error.message : 'the connection was closed';
  return { problem, isFinal: false };
}

function outcomeOf(error: unknown): Outcome {
  const { message, name, code } = error as Error & { readonly code?: unknown };
  if (name === 'TimeoutError')
    return { problem: 'no acknowledgement in time', isFinal: false, isSilence: true };
  // The server tells the two apart no better: nothing answered to the subject.
  if (name === 'JetStreamNotEnabled')
    return { problem: 'no stream has the subject, or JetStream is not enabled', isFinal: false };
  return { problem: message, isFinal: code === TOO_LARGE_FOR_STREAM };
}
