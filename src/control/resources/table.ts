import { apiKeys, botUsers, credentials } from './accounts.ts';
import { reservedAddrs, reservedDomains } from './addresses.ts';
import {
  failoverBackends,
  httpResponseBackends,
  staticBackends,
  tunnelGroupBackends,
  weightedBackends,
} from './backends.ts';
import { certificateAuthorities, tlsCertificates } from './certificates.ts';
import type { Resource } from './contract.ts';
import { httpsEdgeRoutes, httpsEdges, tcpEdges, tlsEdges } from './edges.ts';
import { eventDestinations, eventSubscriptions } from './events.ts';
import { ipPolicies, ipPolicyRules, ipRestrictions } from './ip_policies.ts';
import { vaultSecrets, vaults } from './vaults.ts';

/** Every kind of object in the management API. */
export const RESOURCES: readonly Resource[] = [
  apiKeys,
  botUsers,
  credentials,
  certificateAuthorities,
  tlsCertificates,
  ipPolicies,
  ipPolicyRules,
  ipRestrictions,
  weightedBackends,
  failoverBackends,
  staticBackends,
  httpResponseBackends,
  tunnelGroupBackends,
  httpsEdges,
  httpsEdgeRoutes,
  tcpEdges,
  tlsEdges,
  eventSubscriptions,
  eventDestinations,
  reservedDomains,
  reservedAddrs,
  vaults,
  vaultSecrets,
];

const byKind = new Map(RESOURCES.map((resource) => [resource.kind, resource]));
const byPrefix = new Map(RESOURCES.map((resource) => [resource.prefix, resource]));

export function resourceOfKind(kind: string): Resource {
  const resource = byKind.get(kind);
  if (resource === undefined) throw new Error(`no resource '${kind}'`);
  return resource;
}

/** The resource of an id; undefined if its prefix is not in the table. */
export function resourceOfId(id: string): Resource | undefined {
  return byPrefix.get(id.slice(0, id.indexOf('_')));
}
