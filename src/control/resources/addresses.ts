import * as z from 'zod';
import { parseAuthority } from '../../http/host.ts';
import type { Completed, Draft, Field, Resource } from './contract.ts';
import { createdAt, derive, field, notes, ref } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

const region = (standard: string | null): Field =>
  field('region', z.string().max(63).describe('Deprecated.'), {
    update: 'refused',
    read: standard === null ? 'or_null' : 'always',
    ...(standard !== null && { standard }),
  });

const LABEL_LENGTH = 12;

function completeDomain({ body, before, ports }: Draft): Completed {
  if (before !== null) return { body };
  const own = `.${ports.service}.test`;
  const given = (body['domain'] as string | undefined) ?? `${ports.secretText(LABEL_LENGTH)}${own}`;
  const wildcard = given.startsWith('*.') ? '*.' : '';
  const authority = parseAuthority(given.slice(wildcard.length));
  if (authority === null || authority.port !== undefined || !authority.host.includes('.')) {
    throw refusedValue(COMMON.badValue, '/domain', `'${given}' is not a domain name.`);
  }
  const domain = wildcard + authority.host;
  const target = `${ports.secretText(LABEL_LENGTH)}.cname${own}`;
  return { body: { ...body, domain, cname_target: domain.endsWith(own) ? null : target } };
}

export const reservedDomains: Resource = {
  kind: 'domain',
  title: 'reserved domain',
  path: '/reserved_domains',
  prefix: 'rd',
  listKey: 'reserved_domains',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    ...notes(COMMON.badValue, COMMON.badValue),
    domain: field('domain', z.string().min(1).max(255).describe('Host name, wildcard allowed.'), {
      update: 'refused',
    }),
    region: region(null),
    certificate_id: {
      ...ref('certificate_id', 'certificate', 'TLS certificate of the domain.', {
        kinds: ['tls_certificate'],
        missing: COMMON.notFound,
      }),
      isDetachable: true,
    },
    certificate_management_policy: {
      ...field(
        'certificate_management_policy',
        z
          .strictObject({
            authority: z.enum(['letsencrypt']).default('letsencrypt').describe('Issuer of the certificates.'),
            private_key_type: z.enum(['rsa', 'ecdsa']).default('ecdsa').describe('Key type.'),
          })
          .describe('How certificates are obtained; stored, but not acted on by this version.'),
        { read: 'or_null' },
      ),
      isDetachable: true,
    },
    certificate_management_status: derive('certificate_management_status', z.null(), () => null),
    cname_target: derive('cname_target', z.string().nullable().describe('Target of the CNAME record.')),
    acme_challenge_cname_target: derive('acme_challenge_cname_target', z.null(), () => null),
    created_at: createdAt,
  },
  codes: { notFound: COMMON.notFound, inUse: 446, emptyUpdate: 422 },
  drivesEdge: true,
  complete: completeDomain,
  claims: (body) => [{ space: 'domain', value: String(body['domain']), number: 413 }],
  keep: async (_id, body, lookup) => {
    const value = `${String(body['domain'])}:443`;
    const edge = await lookup.claimant({ space: 'hostport', value });
    return edge === null
      ? null
      : { number: 446, message: `The hostport ${value} is used by the edge ${edge}.` };
  },
};

const FIRST_PORT = 10_000;
const PORTS = 36 ** 3;

async function completeAddress({ body, before, ports, lookup }: Draft): Promise<Completed> {
  if (before !== null) return { body };
  for (;;) {
    const port = FIRST_PORT + Number.parseInt(ports.secretText(3), 36);
    const addr = `1.tcp.${ports.service}.test:${port}`;
    if ((await lookup.claimant({ space: 'addr', value: addr })) === null) return { body: { ...body, addr } };
  }
}

export const reservedAddrs: Resource = {
  kind: 'tcp_address',
  title: 'reserved address',
  path: '/reserved_addrs',
  prefix: 'ra',
  listKey: 'reserved_addrs',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    ...notes(COMMON.badValue, COMMON.badValue),
    region: region('us'),
    addr: derive(
      'addr',
      z.string().describe(`Host and port from ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1}.`),
    ),
    created_at: createdAt,
  },
  codes: { notFound: COMMON.notFound, inUse: COMMON.badValue, emptyUpdate: 506 },
  complete: completeAddress,
  claims: (body) => [{ space: 'addr', value: String(body['addr']), number: COMMON.badValue }],
  keep: async (_id, body, lookup) => {
    const value = String(body['addr']);
    const edge = await lookup.claimant({ space: 'hostport', value });
    return edge === null
      ? null
      : { number: COMMON.badValue, message: `The hostport ${value} is used by the edge ${edge}.` };
  },
};
