/**
 * The inputs of an activation. The shapes are those of the engine's contract (`RequestHead`, `ResponseHead`,
 * `Connection` and `World` can be used directly); optional members are known only in some front ends. Reading a
 * missing fact gives an error value, and `has()` is false.
 */
import type { ClientCertificateFacts } from '../../crypto/certificate_facts.ts';
import type { FieldList } from '../../http/fields.ts';
import type { RequestHead, ResponseHead } from '../../http/heads.ts';
import type { OwnCookies } from '../../http/own_cookies.ts';
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
  readonly clientCertificate: ClientCertificateFacts | null;
  readonly serverCertificate?: ClientCertificateFacts | null;
  readonly negotiatedAlpn?: string;
  readonly ja4Fingerprint?: string;
}

export interface RequestInput extends RequestHead {
  readonly trailers?: FieldList;
  /** Times at which the head and the body were complete, in milliseconds since the epoch. */
  readonly receivedMs?: number;
  readonly bodyReceivedMs?: number;
}

export interface ResponseInput extends ResponseHead {
  readonly trailers?: FieldList;
}

/** The endpoint of the policy. */
export interface EndpointInput {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  readonly protocol: 'http' | 'https' | 'tcp' | 'tls';
}

/** Inputs that are the same for all exchanges of one compiled policy. */
export interface Surroundings {
  readonly endpoint: EndpointInput;
  readonly facts: Facts;
  /** Cookies of login gates; default none. */
  readonly cookies?: Pick<OwnCookies, 'hidden'>;
  /** The text of a secret; undefined when the vault or the secret does not exist. */
  readonly secret: (vault: string, name: string) => string | undefined;
}
