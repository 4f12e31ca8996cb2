/** How TLS is spoken with whoever asks for a name: the edge says it, listeners do it. */
export interface TlsProfile {
  /** Name of the edge; empty where the client named none and several could be meant. */
  readonly edge: string;
  readonly kind: 'https' | 'tls';
  /** False: the bytes pass through as they are. */
  readonly terminates: boolean;
  readonly minVersion: '1.0' | '1.1' | '1.2' | '1.3';
  /** Authorities of client certificates; null when none is asked for. */
  readonly authorities: readonly { readonly name: string; readonly pem: string }[] | null;
}

/** A certificate, leaf first, with its key, both PEM. */
export interface TlsCertificate {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}
