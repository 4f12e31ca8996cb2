/** What connections of TLS and TCP edges may take, in ms and bytes. */
export interface StreamLimits {
  /** Longest time until a backend has taken the connection. */
  readonly dialMs: number;
  /** Longest time without a byte either way; 0 for no limit. */
  readonly idleMs: number;
  /** Longest time for a client's PROXY protocol header, and again for its TLS handshake. */
  readonly handshakeMs: number;
  /** Longest first message of a handshake that is looked at for the server name. */
  readonly helloBytes: number;
}

/** All our choice. */
export const STREAM_LIMITS: StreamLimits = {
  dialMs: 10_000,
  idleMs: 3_600_000,
  handshakeMs: 10_000,
  helloBytes: 65_536,
};
