import type { Facts } from './env/facts.ts';
import type { Surroundings } from './env/inputs.ts';
import type { PolicyContext } from '../filters/action.ts';

/** Links for policies in addition to those of every module; all are optional. */
export interface PolicyLinks {
  readonly endpointId?: string;
  /** The kind of edge with the policy; default an HTTPS edge. */
  readonly carriedBy?: 'https_edge' | 'tls_edge' | 'tcp_edge';
  /** The endpoint of a TLS or TCP edge, whose connections have no request that names one. */
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
