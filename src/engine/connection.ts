import type { ClientCertificateFacts } from '../crypto/certificate_facts.ts';
import type { Address } from '../net/address.ts';

/** Facts about the client's connection, known before any byte of HTTP. */
export interface Connection {
  /** The layer-4 peer, never a forwarded-for value. IPv4-mapped IPv6 is converted to IPv4. */
  readonly client: Address;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
  /** Name from SNI; empty without TLS, and events then use the host of the first request. */
  readonly serverName: string;
  readonly startMs: number;
  readonly tls: TlsFacts | null;
  /** How often the request was forwarded inside the edge before; absent means never. */
  readonly hops?: number;
  /** The port of the same process that speaks TLS, for redirects; absent if it is 443. */
  readonly httpsPort?: number;
}

/** OpenSSL's name of a version: `TLSv1` for 1.0. */
export function tlsVersionName(version: '1.0' | '1.1' | '1.2' | '1.3'): string {
  return version === '1.0' ? 'TLSv1' : `TLSv${version}`;
}

/** The number in OpenSSL's name of a version; 0 if there is none. */
export function tlsVersionNumber(name: string): number {
  return Number(/\d+(?:\.\d+)?/.exec(name)?.[0] ?? 0);
}

/** The result of the handshake. */
export interface TlsFacts {
  /** OpenSSL's name: `TLSv1.3`. */
  readonly version: string;
  /** IANA name: `TLS_AES_128_GCM_SHA256`. */
  readonly cipherSuite: string;
  /** The client's verified certificate; connections with an invalid one are closed before this point. */
  readonly clientCertificate: ClientCertificate | null;
  /** Negotiated protocol (RFC 7301); empty or absent if there was none. */
  readonly negotiatedAlpn?: string;
  /** Identifies the authorities that the client's certificate was verified against; absent without a handshake. */
  readonly trusted?: string;
  /** Name of the edge that the handshake was made for, empty for none; absent without a handshake. */
  readonly edge?: string;
}

export interface ClientCertificate extends ClientCertificateFacts {
  /** Name of the issuing authority, if it is configured by name. */
  readonly authority?: string;
}

/** TLS settings for a server name: defined by the edge, applied by listeners. */
export interface TlsProfile {
  /** Name of the edge; empty if the client sent no name and several edges could be meant. */
  readonly edge: string;
  readonly kind: 'https' | 'tls';
  /** False: the bytes pass through unchanged. */
  readonly terminates: boolean;
  readonly minVersion: '1.0' | '1.1' | '1.2' | '1.3';
  /** Authorities for client certificates; null if none is requested. */
  readonly authorities: readonly { readonly name: string; readonly pem: string }[] | null;
}

/** A certificate chain, leaf first, with its key, both as PEM. */
export interface TlsCertificate {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}
