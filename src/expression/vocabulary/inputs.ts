/**
 * What an activation is made of. The shapes are those of the engine's contract (`RequestHead`,
 * `ResponseHead`, `Connection`, `World` fit as they are); members marked optional are what only some
 * front ends know. An expression that asks for a fact that nobody gave gets an error value, `has()` is false.
 */
import type { FieldList } from '../../http/fields.ts';
import type { Address } from '../../net/address.ts';
import type { Facts } from './facts.ts';

export interface WorldInput {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Uniform in [0, 1). */
  random(): number;
}

export interface ConnectionInput {
  readonly client: Address;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
  readonly serverName: string;
  readonly startMs: number;
  readonly tls: TlsInput | null;
  readonly endMs?: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
}

export interface TlsInput {
  readonly version: string;
  readonly cipherSuite: string;
  readonly clientCertificate: CertificateInput | null;
  readonly serverCertificate?: CertificateInput | null;
  readonly negotiatedAlpn?: string;
  readonly ja4Fingerprint?: string;
}

export interface CertificateInput {
  readonly serialNumber: string;
  readonly subjectCn: string;
  /** All that X.509 says of it, when it was read. */
  readonly details?: CertificateDetails;
}

interface CertificateDetails {
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

export interface RequestInput {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** Lower case, without port. */
  readonly host: string;
  /** `Host` or `:authority` as received. */
  readonly authority: string;
  readonly path: string;
  /** Without the question mark; undefined when there is none. */
  readonly query: string | undefined;
  /** Path and query as the client sent them. */
  readonly sentTarget: string;
  readonly version: '1.0' | '1.1' | '2.0';
  readonly headers: FieldList;
  readonly trailers?: FieldList;
  /** When the head had arrived, and when the body had, in milliseconds since the epoch. */
  readonly receivedMs?: number;
  readonly bodyReceivedMs?: number;
}

export interface ResponseInput {
  readonly status: number;
  readonly headers: FieldList;
  readonly trailers?: FieldList;
}

/** The endpoint that the policy stands at. */
export interface EndpointInput {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  readonly protocol: 'http' | 'https' | 'tcp' | 'tls';
}

/** What stays the same for all exchanges of one compiled policy. */
export interface Surroundings {
  readonly endpoint: EndpointInput;
  readonly facts: Facts;
  /** The text of a secret, or undefined when there is no such vault or no such secret in it. */
  readonly secret: (vault: string, name: string) => string | undefined;
}
