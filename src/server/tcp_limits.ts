import { HELLO_BYTES } from './tls_hello.ts';

/** Limits of connections to TLS and TCP edges, in ms and bytes. */
export interface StreamLimits {
  /** Maximum time until a backend has accepted the connection. */
  readonly dialMs: number;
  /** How long a connection waits for a backend that cannot be reached, trying again; 0 for not at all. */
  readonly waitMs: number;
  /** Maximum time without a byte in either direction; 0 for no limit. */
  readonly idleMs: number;
  /** Maximum time for a client's PROXY protocol header, and again for its TLS handshake. */
  readonly handshakeMs: number;
  /** Maximum length of a ClientHello that is parsed for the server name. */
  readonly helloBytes: number;
}

/** The defaults are our choice. */
export const STREAM_LIMITS: StreamLimits = {
  dialMs: 10_000,
  waitMs: 0,
  idleMs: 3_600_000,
  handshakeMs: 10_000,
  helloBytes: HELLO_BYTES,
};
