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

export interface ClientCertificate {
  readonly serialNumber: string;
  readonly subjectCn: string;
  /** Name of the authority that signed it, where that is known by name. */
  readonly authority?: string;
  /** All that X.509 says of it, when it was read. */
  readonly details?: CertificateDetails;
}

/** What X.509 says of a certificate (RFC 5280). */
export interface CertificateDetails {
  readonly issuer: CertificateName;
  readonly subject: CertificateName;
  readonly san: AlternativeNames;
  readonly extensions: readonly CertificateExtension[];
  /** Such as `SHA256-RSA`. */
  readonly signatureAlgorithm: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly pem: string;
}

/** A distinguished name; `text` is its form of RFC 4514. */
export interface CertificateName {
  readonly text: string;
  readonly commonName: string;
  readonly country: readonly string[];
  readonly locality: readonly string[];
  readonly organization: readonly string[];
  readonly organizationalUnit: readonly string[];
  readonly postalCode: readonly string[];
  readonly province: readonly string[];
  readonly streetAddress: readonly string[];
}

/** `text` lists all names as OpenSSL does: `DNS:a.example, IP Address:192.0.2.1`. */
export interface AlternativeNames {
  readonly text: string;
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
}

export interface CertificateExtension {
  /** Object identifier in dots. */
  readonly id: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}
