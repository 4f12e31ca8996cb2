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
