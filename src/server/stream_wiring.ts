import type { Socket } from 'node:net';
import type { Connection } from '../engine/contract.ts';
import type { Answers, FetchRequest } from '../engine/contract.ts';
import type { StreamExchange } from '../engine/stream.ts';
import type { TlsCertificate, TlsProfile } from '../engine/tls_profile.ts';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';

/** What the listeners for TLS and TCP are given by the composition root. */

/** Where a connection came to, as edges name it: a listener stands for one host and port, or for a port by name. */
export interface StreamPlace {
  readonly kind: 'tls' | 'tcp';
  readonly host: string;
  readonly port: number;
}

export interface StreamWiring {
  /** The injected clock, ms since the epoch. */
  readonly nowMs: () => number;
  /** Ports of edges that TLS is to be listened for at; none where TLS is switched off. */
  readonly tlsPorts: () => readonly number[];
  /** Hosts and ports of TLS and TCP edges. */
  readonly places: () => readonly StreamPlace[];
  readonly profileFor: (name: string, port: number) => TlsProfile | null;
  /** The certificate to show for a name (empty: none was named); null when there is none. */
  readonly certificateFor: (name: string, port: number) => Promise<TlsCertificate | null>;
  /** `failed` says why the handshake of a TLS edge failed: then there is only an event to make. */
  readonly begin: (connection: Connection, place: StreamPlace, failed?: string) => StreamExchange;
  /** Called once for each connection that is no HTTP, when it is over. */
  readonly finished: (exchange: StreamExchange) => void;
  readonly fetch: (request: FetchRequest, gone: AbortSignal) => Promise<Answers['fetch']>;
  /** Takes a connection of an HTTPS edge; `facts.tls.negotiatedAlpn` says what is spoken on it. */
  readonly http: (socket: Socket, facts: ConnectionFacts) => void;
  /** Protocols of HTTPS edges in the order of preference, by their ALPN names. */
  readonly protocols: readonly string[];
  /** Says what a person should know, such as a port that cannot be had after a reload. */
  readonly say: (text: string) => void;
}
