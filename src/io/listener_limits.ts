/** What a client may take of the listener, in bytes and ms. */
export interface ListenerLimits {
  /** Longest head: request line and fields. */
  readonly headBytes: number;
  /** Longest time for a head, from its first byte. */
  readonly headMs: number;
  /** Longest time for a whole request, head and body; 0 for no limit. */
  readonly requestMs: number;
  /** Longest wait for the next bytes of a body. */
  readonly bodyIdleMs: number;
  /** Longest time in which a client takes nothing of a reply that is ready for it. */
  readonly writeIdleMs: number;
  /** How long a connection is kept for its next request. */
  readonly keepAliveMs: number;
  /** How long the rest of a body that nobody wants is read before the connection is cut. */
  readonly lingerMs: number;
  /** Longest silence of an upgraded connection; 0 for no limit. */
  readonly tunnelIdleMs: number;
  /** What a client may send ahead while its request is under way: pipelined requests, or bytes of another protocol. */
  readonly aheadBytes: number;
}

/** The service documents 1 MB of head and 5 minutes of silence; the rest is our choice. */
export const LISTENER_LIMITS: ListenerLimits = {
  headBytes: 1_048_576,
  headMs: 30_000,
  requestMs: 300_000,
  bodyIdleMs: 60_000,
  writeIdleMs: 60_000,
  keepAliveMs: 75_000,
  lingerMs: 5_000,
  tunnelIdleMs: 300_000,
  aheadBytes: 65_536,
};

/**
 * How long a stop waits for exchanges whose connection was cut. They are complete at once, but for those that ask
 * somebody who cannot be interrupted, such as an OpenID provider.
 */
export const AFTER_CUT_MS = 2_000;
