import * as z from 'zod';
import { domainName } from './agent_ingresses.ts';
import type { Completed, Draft, Field, Lookup } from './contract.ts';
import { derive, field, notes, ref, resource } from './fields.ts';
import { managedFields, withRequest } from './managed_certificates.ts';
import { COMMON, refusedValue } from './problem.ts';

const region = (standard: string | null): Field =>
  field(z.string().max(63).describe('Deprecated.'), {
    update: 'refused',
    emptyIsUnset: [''],
    read: standard === null ? 'or_null' : 'always',
    ...(standard !== null && { standard }),
  });

/** The reserved domain that covers a host: its own, or a wildcard. */
export async function reservedDomainOf(
  host: string,
  lookup: Pick<Lookup, 'claimant'>,
): Promise<string | null> {
  for (let name = host; ; name = `*.${name.replace(/^(?:\*\.)?[^.]*\./, '')}`) {
    const id = await lookup.claimant({ space: 'domain', value: name });
    if (id !== null || !name.replace(/^\*\./, '').includes('.')) return id;
  }
}

const LABEL_LENGTH = 12;
const managed = managedFields('ecdsa');

function completeDomain({ body, before, given, ports, now }: Draft): Completed {
  const { certificate_id: certificate, certificate_management_policy: policy } = given;
  const isUploaded = certificate !== undefined && certificate !== '';
  if (isUploaded && policy !== undefined)
    throw refusedValue(COMMON.badValue, '/certificate_id', 'Give a certificate or a policy, not both.');
  const { certificate_management_policy: _, ...unmanaged } = body;
  const whole = isUploaded ? unmanaged : withRequest(body, before, now);
  if (before !== null) return { body: whole };
  const own = `.${ports.service}.test`;
  const name = (body['domain'] as string | undefined) ?? `${ports.secretText(LABEL_LENGTH)}${own}`;
  const domain = domainName(name, { wildcard: true });
  if (domain.endsWith(own))
    return { body: { ...whole, domain, cname_target: null, acme_challenge_cname_target: null } };
  const label = ports.secretText(LABEL_LENGTH);
  return {
    body: {
      ...whole,
      domain,
      cname_target: `${label}.cname${own}`,
      acme_challenge_cname_target: domain.startsWith('*.') ? `${label}.acme${own}` : null,
    },
  };
}

export const reservedDomains = resource({
  kind: 'domain',
  title: 'reserved domain',
  path: '/reserved_domains',
  prefix: 'rd',
  listKey: 'reserved_domains',
  fields: {
    ...notes(),
    domain: field(z.string().min(1).max(255).describe('Host name, wildcard allowed.'), {
      update: 'refused',
      emptyIsUnset: [''],
    }),
    region: region(null),
    certificate_id: {
      ...ref('certificate', 'TLS certificate of the domain.', {
        kinds: ['tls_certificate'],
        missing: COMMON.notFound,
        emptyIsUnset: [''],
      }),
      isDetachable: true,
    },
    ...managed,
    certificate_management_policy: { ...managed.certificate_management_policy, isDetachable: true },
    resolves_to: field(
      z
        .array(z.strictObject({ value: z.string().min(1).max(63).describe('A region, or global.') }))
        .max(100)
        .describe('Regions that the name resolves to; without effect, because there is only one.'),
      { standard: [] },
    ),
    cname_target: derive(z.string().nullable().describe('Target of the CNAME record.')),
    acme_challenge_cname_target: derive(
      z.string().nullable().describe('Target of the CNAME record of _acme-challenge, for wildcards.'),
      (value) => value ?? null,
    ),
  },
  codes: { inUse: 446, emptyUpdate: 422 },
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
});

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

export const reservedAddrs = resource({
  kind: 'tcp_address',
  title: 'reserved address',
  path: '/reserved_addrs',
  prefix: 'ra',
  listKey: 'reserved_addrs',
  fields: {
    ...notes(),
    region: region('us'),
    addr: derive(z.string().describe(`Host and port from ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1}.`)),
  },
  codes: { emptyUpdate: 506 },
  complete: completeAddress,
  claims: (body) => [{ space: 'addr', value: String(body['addr']), number: COMMON.badValue }],
  keep: async (_id, body, lookup) => {
    const value = String(body['addr']);
    const edge = await lookup.claimant({ space: 'hostport', value });
    return edge === null
      ? null
      : { number: COMMON.badValue, message: `The hostport ${value} is used by the edge ${edge}.` };
  },
});
