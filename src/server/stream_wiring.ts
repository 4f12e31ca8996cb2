import type { Socket } from 'node:net';
import type { PersistentMap } from '../caches/persistent_map.ts';
import type { Connection, FetchRequest } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import type { TlsCertificate, TlsProfile } from '../engine/connection.ts';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';

/** What the composition root passes to the TLS and TCP listeners. */

/** The destination of a connection, as edges name it: a host and port, or a port with server names. */
export interface StreamPlace {
  readonly kind: 'tls' | 'tcp';
  readonly host: string;
  readonly port: number;
}

export interface StreamWiring {
  /** The injected clock, ms since the epoch. */
  readonly nowMs: () => number;
  /** Ports at which edges use TLS; empty when TLS is disabled. */
  readonly tlsPorts: () => readonly number[];
  /** Hosts and ports of TCP edges, as `host:port`; the values say nothing. */
  readonly tcpAddresses: () => PersistentMap<number>;
  readonly profileFor: (name: string, port: number) => TlsProfile | null;
  /** The certificate of the configuration for a server name (empty: none was sent); null when it has none. */
  readonly certificateFor: (name: string) => TlsCertificate | null;
  /** A certificate for a server name that the configuration has none for; null when there is none. */
  readonly otherCertificateFor: (name: string) => Promise<TlsCertificate | null>;
  /** `failed` is why the handshake of a TLS edge failed; then only an event is made. */
  readonly begin: (connection: Connection, place: StreamPlace, failed?: string) => StreamExchange;
  /** Called once for each connection other than HTTP, when it has ended. */
  readonly finished: (exchange: StreamExchange) => void;
  readonly fetch: (request: FetchRequest, gone: AbortSignal) => Promise<Answers['fetch']>;
  /** Serves a connection of an HTTPS edge; `facts.tls.negotiatedAlpn` is its protocol. */
  readonly http: (socket: Socket, facts: ConnectionFacts) => void;
  /** ALPN names of the protocols of HTTPS edges, in order of preference. */
  readonly protocols: readonly string[];
  /** Called with the backend of each connection that begins to wait for it. */
  readonly waits?: ((backend: string) => void) | undefined;
  /** Prints a message for the operator, such as a port that cannot be opened after a reload. */
  readonly say: (text: string) => void;
}
