import { WIRE_LIMITS } from '../http/message_limits.ts';

/** Limits of a listener for its clients, in bytes and ms. */
export interface ListenerLimits {
  /** Maximum length of a head: request line and fields. */
  readonly headBytes: number;
  /** Maximum time for a head, from its first byte. */
  readonly headMs: number;
  /**
   * Maximum time for a whole request, head and body; 0 for no limit. With HTTP/2 it ends when the response begins: both may be
   * streams that last longer.
   */
  readonly requestMs: number;
  /** Maximum wait for the next bytes of a body. */
  readonly bodyIdleMs: number;
  /** Maximum time in which a client reads nothing of a response that is ready. */
  readonly writeIdleMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number;
  /** How long the rest of an unneeded body is read before the connection is closed. */
  readonly lingerMs: number;
  /** Maximum silence of an upgraded connection; 0 for no limit. */
  readonly tunnelIdleMs: number;
  /**
   * How much a client may send ahead while its request is in flight: pipelined requests, or bytes of another
   * protocol.
   */
  readonly aheadBytes: number;
}

/** The service documents 5 minutes of silence; the rest is our choice. */
export const LISTENER_LIMITS: ListenerLimits = {
  headBytes: WIRE_LIMITS.headBytes,
  headMs: 30_000,
  requestMs: 300_000,
  bodyIdleMs: 60_000,
  writeIdleMs: 60_000,
  keepAliveMs: 75_000,
  lingerMs: 5_000,
  tunnelIdleMs: 300_000,
  aheadBytes: 65_536,
};

/** How long exchanges may finish when the edge stops, in ms. */
export const DRAIN_MS = 10_000;

/**
 * How long a stop waits for exchanges whose connection was closed. They complete at once, except for those
 * that wait for something that cannot be interrupted, such as an OpenID provider.
 */
export const AFTER_CUT_MS = 2_000;
