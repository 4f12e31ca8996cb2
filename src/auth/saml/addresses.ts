import type { LoginSite } from '../provider.ts';

/** Where the service provider of one gate is, as its metadata says. */
export interface SamlAddresses {
  readonly entityId: string;
  readonly acsUrl: string;
  readonly sloUrl: string;
}

/** Paths below a gate's base. */
export const SAML_PATHS = {
  metadata: 'saml/metadata',
  acs: 'saml/acs',
  slo: 'saml/slo',
} as const;

/** Addresses on the endpoint itself: they work wherever the endpoint is reached. */
export function endpointAddresses({ origin, base }: LoginSite): SamlAddresses {
  const at = (path: string): string => `${origin}${base}${path}`;
  return { entityId: at(SAML_PATHS.metadata), acsUrl: at(SAML_PATHS.acs), sloUrl: at(SAML_PATHS.slo) };
}

/** Addresses on the host of the service, the same for all endpoints of a route: those that the management API shows. */
export function serviceAddresses(service: string, route: string): SamlAddresses {
  const base = `https://${identityHost(service)}/saml/${route}`;
  return { entityId: base, acsUrl: `${base}/acs`, sloUrl: `${base}/slo` };
}

/** The host that stands for the service at identity providers. */
export function identityHost(service: string): string {
  return `idp.${service}.test`;
}
