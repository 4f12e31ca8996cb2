import type { ClientCertificateFacts } from '../crypto/certificate_facts.ts';
import type { Address } from '../net/address.ts';

/** What the edge knows of the client's connection before any byte of HTTP. */
export interface Connection {
  /** The layer-4 peer, never a forwarded-for value. IPv4-mapped IPv6 is already IPv4 here. */
  readonly client: Address;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
  /** Name from SNI where there is TLS, else empty: the host of the first request takes its place in events. */
  readonly serverName: string;
  readonly startMs: number;
  readonly tls: TlsFacts | null;
  /** How often the request was handed on inside the edge before it came here; none when absent. */
  readonly hops?: number;
  /** The port where the same process speaks TLS, for redirects; absent where that is the usual one. */
  readonly httpsPort?: number;
}

/** What the handshake came to. */
export interface TlsFacts {
  /** As OpenSSL calls it: `TLSv1.3`. */
  readonly version: string;
  /** As the standards call it: `TLS_AES_128_GCM_SHA256`. */
  readonly cipherSuite: string;
  /** Of the client, and verified: a certificate that is not good never comes here. */
  readonly clientCertificate: ClientCertificate | null;
  /** Protocol that was agreed on (RFC 7301); empty or absent when there was none. */
  readonly negotiatedAlpn?: string;
  /** Stands for the authorities that the client's certificate was verified against; absent without a handshake. */
  readonly trusted?: string;
  /** Name of the edge that the handshake was made for, empty for none; absent where no handshake was made. */
  readonly edge?: string;
}

export interface ClientCertificate extends ClientCertificateFacts {
  /** Name of the authority that signed it, where that is known by name. */
  readonly authority?: string;
}
