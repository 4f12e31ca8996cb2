import { trustOf } from '../crypto/client_certificate.ts';
import type { TlsFacts, TlsProfile } from '../engine/connection.ts';

/** Authorities with their certificates as PEM; empty if unknown. */
type Authorities = NonNullable<TlsProfile['authorities']>;

/** The authorities that may issue client certificates, ready for comparisons. */
export interface RequiredAuthorities {
  readonly ids: ReadonlySet<string>;
  /** Identifies the list. */
  readonly trusted: string;
}

export function requiring(authorities: Authorities): RequiredAuthorities {
  return {
    ids: new Set(authorities.map(({ name }) => name)),
    trusted: trustOf(authorities.map(({ pem }) => pem)),
  };
}

/** Whether a handshake can be made with these authorities: texts with templates and unknown ids have no certificate. */
export function areUsable(authorities: Authorities): boolean {
  return authorities.length > 0 && authorities.every(({ pem }) => pem !== '' && !pem.includes('${'));
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
