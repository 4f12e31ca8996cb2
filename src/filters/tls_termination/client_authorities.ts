import type { TlsProfile } from '../../engine/connection.ts';
import type { TerminateTlsConfig } from './action_schema.ts';

type Authorities = NonNullable<TlsProfile['authorities']>;

/** The authorities of which `terminate-tls` requires a client certificate; null if it requires none. */
export function requiredAuthorities(
  {
    mutual_tls_certificate_authorities: given,
    mutual_tls_verification_strategy: strategy,
  }: TerminateTlsConfig,
  authorityPem: (id: string) => string,
): Authorities | null {
  if (strategy === 'request' || (given.length === 0 && strategy !== 'require-any')) return null;
  return given.map((text) =>
    text.includes('-----BEGIN ') ? { name: '', pem: text } : { name: text, pem: authorityPem(text) },
  );
}

/** Whether a handshake can be made with these authorities: texts with templates and unknown ids have no certificate. */
export function areUsable(authorities: Authorities): boolean {
  return authorities.length > 0 && authorities.every(({ pem }) => pem !== '' && !pem.includes('${'));
}
