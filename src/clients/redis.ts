import { requireOptionalPeer } from '../loading/optional_peer.ts';

/** The parts of `@redis/client` that are used here. */
interface RedisPackage {
  readonly createClient: (options: object) => RedisConnection;
}

/** A connection that opens itself again. Commands fail at once while it is closed. */
export interface RedisConnection {
  readonly isReady: boolean;
  readonly connect: () => Promise<unknown>;
  readonly sendCommand: (words: readonly string[]) => Promise<unknown>;
  readonly on: (event: 'ready' | 'error', hear: (error: Error) => void) => unknown;
  readonly destroy: () => void;
}

export interface RedisSettings {
  /** `redis://` or `rediss://`, with user, password and number of the database. */
  readonly url: string;
  /** Commands that may wait on the connection. */
  readonly pendingLimit: number;
  /** Silence after which the connection is given up, in ms. */
  readonly silenceMs: number;
}

const CONNECT_MS = 2_000;
const LONGEST_PAUSE_MS = 500;
const FIRST_PAUSE_MS = 25;

/** A connection that is not open yet. Throws with the command that installs the client if it is missing. */
export function redisConnection({ url, pendingLimit, silenceMs }: RedisSettings): RedisConnection {
  const { createClient } = requireOptionalPeer('@redis/client', '--shared redis://') as RedisPackage;
  return createClient({
    url,
    name: 'edgeproof',
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: pendingLimit,
    pingInterval: silenceMs / 2,
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: silenceMs,
      reconnectStrategy: (attempts: number) => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempts),
    },
  });
}
