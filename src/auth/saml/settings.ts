import type { SigningIdentity } from '../../crypto/issue_certificate.ts';
import type { LoginSite } from '../provider.ts';
import type { SamlAddresses } from './addresses.ts';
import type { ProviderMetadata } from './metadata.ts';

/** A SAML gate as configured. */
export interface SamlSettings {
  readonly metadata: ProviderMetadata;
  readonly forceAuthn: boolean;
  readonly allowIdpInitiated: boolean;
  readonly authorizedGroups: readonly string[];
  readonly nameIdFormat: string;
  readonly addresses: (site: LoginSite) => SamlAddresses;
  /** The key that requests are signed with; made when it is first needed. */
  readonly signing: (nowMs: number) => SigningIdentity;
}

/** How far the clocks of the identity provider and ours may differ. */
export const TOLERANCE_MS = 60_000;

/**
 * The id of a request says where it is waited for, so that an answer at the host of the service finds its endpoint;
 * nothing is believed because of it.
 */
export function requestId(secret: string, { origin }: LoginSite): string {
  return `_${secret}.${Buffer.from(origin, 'utf8').toString('base64url')}`;
}

/** The origin that an id of a request names; null when it names none. */
export function originOfRequest(id: string): string | null {
  const [, encoded] = /^_[\w-]+\.([\w-]+)$/.exec(id) ?? [];
  if (encoded === undefined) return null;
  const origin = Buffer.from(encoded, 'base64url').toString('utf8');
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : null;
}

/** A session at the identity provider: its index counts for the one user only. */
export function providerSession(nameId: string, sessionIndex: string): string {
  return JSON.stringify([nameId, sessionIndex]);
}
