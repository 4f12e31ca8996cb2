import type { LoginSite } from '../provider.ts';

/** Addresses of a gate as a service provider. */
export interface SamlAddresses {
  readonly entityId: string;
  readonly acsUrl: string;
  readonly sloUrl: string;
}

/** Paths relative to a gate's base. */
export const SAML_PATHS = {
  metadata: 'saml/metadata',
  acs: 'saml/acs',
  slo: 'saml/slo',
} as const;

/** Addresses on the endpoint itself; they work under each hostname of the endpoint. */
export function endpointAddresses({ origin, base }: LoginSite): SamlAddresses {
  const at = (path: string): string => `${origin}${base}${path}`;
  return { entityId: at(SAML_PATHS.metadata), acsUrl: at(SAML_PATHS.acs), sloUrl: at(SAML_PATHS.slo) };
}

/** Addresses on the service host, equal for all endpoints of a route; the management API shows them. */
export function serviceAddresses(service: string, route: string): SamlAddresses {
  const base = `https://${identityHost(service)}/saml/${route}`;
  return { entityId: base, acsUrl: `${base}/acs`, sloUrl: `${base}/slo` };
}

/** The host that identity providers know for this service. */
export function identityHost(service: string): string {
  return `idp.${service}.test`;
}
