import type { SigningIdentity } from '../../crypto/issue_certificate.ts';
import type { LoginSite } from '../provider.ts';
import type { SamlAddresses } from './addresses.ts';
import type { ProviderMetadata } from './metadata.ts';

/** Settings of a SAML gate. */
export interface SamlSettings {
  readonly metadata: ProviderMetadata;
  readonly forceAuthn: boolean;
  readonly allowIdpInitiated: boolean;
  readonly authorizedGroups: readonly string[];
  readonly nameIdFormat: string;
  readonly addresses: (site: LoginSite) => SamlAddresses;
  /** The key for signing requests; created on first use. */
  readonly signing: (nowMs: number) => SigningIdentity;
}

/**
 * A request id contains the origin of its endpoint, so that the service host can route the response. Nothing
 * else relies on it.
 */
export function requestId(secret: string, { origin }: LoginSite): string {
  return `_${secret}.${Buffer.from(origin, 'utf8').toString('base64url')}`;
}

/** The origin in a request id; null if it contains none. */
export function originOfRequest(id: string): string | null {
  const [, encoded] = /^_[\w-]+\.([\w-]+)$/.exec(id) ?? [];
  if (encoded === undefined) return null;
  const origin = Buffer.from(encoded, 'base64url').toString('utf8');
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : null;
}

/** A session at the identity provider; session indexes are unique per user only. */
export function providerSession(nameId: string, sessionIndex: string): string {
  return JSON.stringify([nameId, sessionIndex]);
}
