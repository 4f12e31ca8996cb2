import { abuseReports } from './abuse_reports.ts';
import { apiKeys, botUsers, credentials, serviceUsers, sshCredentials } from './accounts.ts';
import { agentIngresses } from './agent_ingresses.ts';
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
import { endpoints } from './endpoints.ts';
import { httpsEdgeRoutes, httpsEdges, tcpEdges, tlsEdges } from './edges.ts';
import { eventDestinations } from './event_destinations.ts';
import { eventSubscriptions } from './events.ts';
import { aiGatewayApiKeys } from './gateway_keys.ts';
import { ipPolicies, ipPolicyRules, ipRestrictions } from './ip_policies.ts';
import { kubernetesOperators } from './kubernetes_operators.ts';
import { sshCertificateAuthorities } from './ssh_authorities.ts';
import { sshHostCertificates, sshUserCertificates } from './ssh_certificates.ts';
import { vaultSecrets, vaults } from './vaults.ts';

/** Every kind of object in the management API. */
export const RESOURCES: readonly Resource[] = [
  apiKeys,
  botUsers,
  serviceUsers,
  credentials,
  sshCredentials,
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
  endpoints,
  eventSubscriptions,
  eventDestinations,
  reservedDomains,
  reservedAddrs,
  vaults,
  vaultSecrets,
  sshCertificateAuthorities,
  sshHostCertificates,
  sshUserCertificates,
  agentIngresses,
  kubernetesOperators,
  aiGatewayApiKeys,
  abuseReports,
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
