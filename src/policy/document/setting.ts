import type { ServiceNaming } from '../../engine/naming.ts';

/** What carries a policy, where that is known. */
export type Carried = (typeof CARRIERS)[number];

export const CARRIERS = [
  'https_edge',
  'tls_edge',
  'tcp_edge',
  /** A local port: `edgeproof http`. */
  'http',
  /** Endpoints of the service that have no edge: in the cloud, where nothing stands behind the policy, and internal. */
  'cloud_endpoint',
  'internal_endpoint',
] as const;

/** What the plan of an account allows; what is left out is not limited. */
export interface Plan {
  /** Action types that it does not have. */
  readonly withoutActions?: readonly string[];
  readonly rulesPerPolicy?: number;
  readonly expressionsPerRule?: number;
  readonly actionsPerRule?: number;
}

/** What is known of a policy's surroundings. What is left out is not checked. */
export interface PolicySetting {
  readonly naming: Pick<ServiceNaming, 'service' | 'errorCode'>;
  readonly carriedBy?: Carried;
  /** Names or ids of the IP policies that exist. */
  readonly ipPolicies?: readonly string[];
  readonly plan?: Plan;
  /** Hosts of the endpoints that `forward-internal` reaches. */
  readonly internalHosts?: readonly string[];
  /** Names of the secrets that `secrets.get` finds, by vault. */
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
}
