import * as z from 'zod';
import { parseAuthority } from '../../http/host.ts';
import { parseAddress } from '../../net/address.ts';
import type { Completed, Draft } from './contract.ts';
import { derive, field, notes, resource } from './fields.ts';
import { managedFields, withRequest } from './managed_certificates.ts';
import { COMMON, refusedValue } from './problem.ts';

/** The only region. */
export const REGION = 'local';
/** Before the domain in the name that agents connect to. */
const HOST_PREFIX = `tunnel.${REGION}.`;

/** The domain of an ingress by the host that agents connect to; null for others. */
export function ingressDomain(host: string): string | null {
  return host.startsWith(HOST_PREFIX) ? host.slice(HOST_PREFIX.length) : null;
}

/** A domain name in canonical form; throws ApiProblem. A wildcard is accepted where `wildcard` says so. */
export function domainName(given: string, { wildcard }: { readonly wildcard: boolean }): string {
  const start = wildcard && given.startsWith('*.') ? '*.' : '';
  const authority = parseAuthority(given.slice(start.length));
  if (
    authority === null ||
    authority.port !== undefined ||
    !authority.host.includes('.') ||
    parseAddress(authority.host) !== null
  )
    throw refusedValue(COMMON.badValue, '/domain', `'${given}' is not a domain name.`);
  return start + authority.host;
}

function completeIngress({ body, before, now, ports }: Draft): Completed {
  const requested = withRequest(body, before, now);
  if (before !== null) return { body: requested };
  const domain = domainName(String(body['domain']), { wildcard: false });
  return {
    body: {
      ...requested,
      domain,
      region_domains: [HOST_PREFIX + domain],
      ns_targets: [1, 2].map((number) => `${number}.dns.${ports.service}.test.`),
    },
  };
}

export const agentIngresses = resource({
  kind: 'agent_ingress',
  title: 'agent ingress',
  path: '/agent_ingresses',
  prefix: 'agin',
  listKey: 'ingresses',
  fields: {
    ...notes(),
    domain: field(z.string().min(1).max(255).describe('Domain below which agents connect.'), {
      create: 'required',
      update: 'refused',
    }),
    ns_targets: derive(z.array(z.string()).describe('Name servers for the domain.')),
    region_domains: derive(z.array(z.string()).describe('Hosts that agents connect to.')),
    ...managedFields('rsa'),
    /** The certificate and its private key. */
    issued: { secrets: ['/privateKeyPem'] },
  },
  complete: completeIngress,
  claims: (body) => [{ space: 'ingress', value: String(body['domain']), number: COMMON.badValue }],
});
