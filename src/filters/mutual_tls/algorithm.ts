import type { TlsFacts } from '../../engine/connection.ts';

/** Maximum number of certificate authorities of one edge. */
export const AUTHORITIES_LIMIT = 10;

/** The authorities of which a client needs a certificate. */
export interface RequiredAuthorities {
  readonly ids: ReadonlySet<string>;
  /** Identifies the list (`trustOf`). */
  readonly trusted: string;
}

/** Why the certificate of a TLS connection is not accepted; null if it is. */
export function certificateProblem(
  { clientCertificate: certificate, trusted }: TlsFacts,
  own: RequiredAuthorities,
  nowMs: number,
): 'no_certificate' | 'untrusted' | 'not_valid_now' | null {
  if (certificate === null) return 'no_certificate';
  const { authority, details } = certificate;
  if (authority !== undefined && !own.ids.has(authority)) return 'untrusted';
  // The trusted authorities may have changed since the handshake.
  if (trusted !== undefined && trusted !== own.trusted) return 'untrusted';
  const isValid = details === undefined || (details.notBeforeMs <= nowMs && nowMs <= details.notAfterMs);
  return isValid ? null : 'not_valid_now';
}
