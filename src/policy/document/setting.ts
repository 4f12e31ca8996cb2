import type { ServiceNaming } from '../../engine/naming.ts';

/** What carries a policy, where that is known. */
export type Carried = 'https_edge' | 'tls_edge' | 'tcp_edge' | 'http';

/** What is known of a policy's surroundings. What is left out is not checked. */
export interface PolicySetting {
  readonly naming: Pick<ServiceNaming, 'service' | 'errorCode'>;
  readonly carriedBy?: Carried;
  /** Names or ids of the IP policies that exist. */
  readonly ipPolicies?: readonly string[];
  /** Names of the secrets that `secrets.get` finds, by vault. */
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
}
