import type { Facts } from './env/facts.ts';
import type { Surroundings } from './env/inputs.ts';
import type { PolicyContext } from '../filters/action.ts';

/** What a policy may know about its surroundings, beyond the links of all modules. Omitted parts are unknown. */
export interface PolicyLinks {
  readonly endpointId?: string;
  /** The kind of endpoint; default an HTTPS edge. */
  readonly carriedBy?: 'https_edge' | 'tls_edge' | 'tcp_edge';
  /** The endpoint of a TLS or TCP edge, which no request names. */
  readonly endpoint?: Pick<Surroundings['endpoint'], 'host' | 'port' | 'protocol'>;
  readonly facts?: Facts;
  readonly secret?: Surroundings['secret'];
  readonly isInternal?: PolicyContext['isInternal'];
  readonly allowPrivateFetch?: boolean;
  readonly passUnsimulated?: boolean;
  readonly trace?: PolicyContext['trace'];
  readonly watch?: PolicyContext['watch'];
  readonly logins?: Omit<NonNullable<PolicyContext['logins']>, 'edge'>;
}
