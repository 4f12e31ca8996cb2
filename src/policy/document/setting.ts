import type { Branding } from '../../engine/branding.ts';

/** What a policy is attached to. */
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

export const ENDPOINT_KINDS = [
  'https_edge',
  'tls_edge',
  'tcp_edge',
  /** A local port: `edgeproof http`. */
  'http',
  /** Endpoints of the service without an edge: cloud endpoints, which have no backend, and internal ones. */
  'cloud_endpoint',
  'internal_endpoint',
] as const;

/** The limits of an account's plan; omitted values are not limited. */
export interface Plan {
  /** Action types that it does not include. */
  readonly withoutActions?: readonly string[];
  readonly rulesPerPolicy?: number;
  readonly expressionsPerRule?: number;
  readonly actionsPerRule?: number;
}

/** The known surroundings of a policy. What is omitted is not checked. */
export interface PolicySetting {
  readonly branding: Pick<Branding, 'service' | 'errorCode'>;
  readonly attachedTo?: EndpointKind;
  /** Whether what passes the policy goes to a backend; default true, except for a cloud endpoint. */
  readonly hasBackend?: boolean;
  /** Names or ids of the IP policies that exist. */
  readonly ipPolicies?: readonly string[];
  readonly plan?: Plan;
  /** Whether to report what works here, but which the service refuses or does not document. */
  readonly strict?: boolean;
  /** Hosts of the endpoint that the policy is attached to; `*.` stands for any subdomain. */
  readonly hosts?: readonly string[];
  /** Hosts of the HTTPS endpoints that `forward-internal` can reach. */
  readonly internalHosts?: readonly string[];
  /** URLs, each with its port, of the TLS and TCP endpoints that `forward-internal` can reach. */
  readonly internalAddresses?: readonly string[];
  /** Names of the secrets for `secrets.get`, by vault. */
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
  /** Whether nothing is compiled after the check, so that programs need not be kept for it. */
  readonly isCheckOnly?: boolean;
}
