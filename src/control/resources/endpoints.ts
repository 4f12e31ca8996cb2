import * as z from 'zod';
import {
  type EndpointPlace,
  URL_NUMBERS,
  placeUrl,
  readEndpointUrl,
} from '../../edge/document/endpoint_urls.ts';
import { isInternalHost } from '../../edge/document/internal_hosts.ts';
import { policyText } from '../../policy/module_schema.ts';
import { reservedDomainOf } from './addresses.ts';
import type { Body, Completed, Draft, Field, Reading } from './contract.ts';
import { derive, field, notes, refSchema, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

/** The service's error numbers for cloud endpoints. */
export const ENDPOINT_NUMBERS = {
  ...URL_NUMBERS,
  policy: 18002,
  emptyUpdate: 18004,
  changedScheme: 18005,
  sameUrl: 18009,
  badField: 18014,
  poolClosed: 18016,
  notPooled: 18017,
  badBinding: 15005,
  notInternal: 9029,
} as const;

/** Reads the URL of an endpoint; throws the documented errors. */
export function endpointPlace(url: string): EndpointPlace {
  const read = readEndpointUrl(url);
  if ('number' in read) throw refusedValue(read.number, '/url', read.message);
  return read;
}

/** The place of a stored endpoint. */
export function placeOfEndpoint(body: Body): EndpointPlace {
  return endpointPlace(String(body['url']));
}

async function complete({ body, before, principal, lookup, now }: Draft): Promise<Completed> {
  const place = endpointPlace(String(body['url']));
  if (before !== null && placeOfEndpoint(before).scheme !== place.scheme) {
    const message = 'The scheme of an endpoint cannot be changed; create another endpoint.';
    throw refusedValue(ENDPOINT_NUMBERS.changedScheme, '/url', message);
  }
  const { domain_id: _domain, tcp_addr_id: _address, ...rest } = body;
  const isTcp = place.scheme === 'tcp';
  const domain = isTcp ? null : await reservedDomainOf(place.host, lookup);
  const address = isTcp
    ? await lookup.claimant({ space: 'addr', value: `${place.host}:${place.port}` })
    : null;
  return {
    body: {
      ...rest,
      url: placeUrl(place),
      bindings: bindingsOf(body, place),
      principal_id: before?.['principal_id'] ?? principal.id,
      updated_at: now,
      ...(domain !== null && { domain_id: domain }),
      ...(address !== null && { tcp_addr_id: address }),
    },
  };
}

function bindingsOf(body: Body, { host }: EndpointPlace): readonly string[] {
  const isInternal = isInternalHost(host);
  const [binding = isInternal ? 'internal' : 'public', ...more] = (body['bindings'] ?? []) as string[];
  if (more.length > 0)
    throw refusedValue(ENDPOINT_NUMBERS.badField, '/bindings/1', 'An endpoint has one binding.');
  if (binding !== 'public' && binding !== 'internal') {
    const message = `The binding '${binding}' is not supported; the bindings are public and internal.`;
    throw refusedValue(ENDPOINT_NUMBERS.badBinding, '/bindings/0', message);
  }
  if (binding === 'internal' && !isInternal) {
    const message = `An internal endpoint needs a host that ends in .internal, which '${host}' does not.`;
    throw refusedValue(ENDPOINT_NUMBERS.notInternal, '/url', message);
  }
  if (binding === 'public' && isInternal)
    throw refusedValue(ENDPOINT_NUMBERS.badField, '/bindings/0', `The host '${host}' cannot be public.`);
  return [binding];
}

/** What follows from the URL. */
const placed = (schema: z.ZodType, show: (place: EndpointPlace, url: string) => unknown): Field =>
  derive(schema, (_value, { body }) => show(placeOfEndpoint(body), String(body['url'])));

/** The reserved object that covers the endpoint; it cannot be deleted before it. */
const reserved = (name: string, kind: string): Field => ({
  refers: (id: string) => [
    { id, pointer: '', kinds: [kind], missing: COMMON.notFound, wrong: COMMON.wrongPrefix },
  ],
  read: { name, schema: refSchema.nullable(), show: refOrNull },
});

function refOrNull(id: unknown, { refOf }: Reading): unknown {
  return id === undefined ? null : refOf(id as string);
}

const text = (describes: string) => z.string().describe(describes);
const absent = derive(refSchema.nullable().describe('Null for a cloud endpoint.'), () => null);

/** Cloud endpoints. Agents' endpoints have the same form, but exist only while their agent is connected. */
export const endpoints = resource({
  kind: 'endpoint',
  title: 'endpoint',
  path: '/endpoints',
  prefix: 'ep',
  listKey: 'endpoints',
  choices: ['id', 'ids', 'url', 'urls'],
  fields: {
    ...notes(ENDPOINT_NUMBERS.badField, ENDPOINT_NUMBERS.badField),
    url: field(text('Scheme, host and port: https://shop.test, tls://db.test:443, tcp://1.tcp.test:5432.'), {
      create: 'required',
      codes: { missing: ENDPOINT_NUMBERS.url, bad: ENDPOINT_NUMBERS.url },
    }),
    type: {
      ...field(z.enum(['cloud']).describe('Only cloud endpoints are created by the API.'), {
        create: 'required',
        update: 'refused',
        codes: { missing: ENDPOINT_NUMBERS.badField, bad: ENDPOINT_NUMBERS.badField },
      }),
      read: { schema: z.enum(['cloud', 'agent']), show: (value) => value },
    },
    traffic_policy: field(policyText('The traffic policy, as JSON or YAML.'), {
      create: 'required',
      codes: { missing: ENDPOINT_NUMBERS.policy, bad: ENDPOINT_NUMBERS.policy },
    }),
    bindings: field(z.array(z.string()).describe('From where it is reached: public, or internal.'), {
      codes: { bad: ENDPOINT_NUMBERS.badBinding },
    }),
    pooling_enabled: field(z.boolean().describe('Whether endpoints with the same URL share its traffic.'), {
      standard: false,
      codes: { bad: ENDPOINT_NUMBERS.badField },
    }),
    region: derive(text('Always `local`.'), () => 'local'),
    updated_at: derive(text('Time of the last change, RFC 3339.')),
    public_url: placed(text('The same as `url`.'), (_place, url) => url),
    proto: placed(text('Scheme of the URL.'), ({ scheme }) => scheme),
    scheme: placed(text('Scheme of the URL.'), ({ scheme }) => scheme),
    hostport: placed(text('Host and port.'), ({ host, port }) => `${host}:${port}`),
    host: placed(text('Host.'), ({ host }) => host),
    port: placed(z.int().describe('Port.'), ({ port }) => port),
    name: derive(text('The name that its agent gave it; empty for a cloud endpoint.'), () => ''),
    upstream_url: derive(text('Where the agent forwards to; empty for a cloud endpoint.'), () => ''),
    upstream_protocol: derive(text('Protocol of the upstream of an agent: http1, http2 or empty.'), () => ''),
    domain_id: reserved('domain', 'domain'),
    tcp_addr_id: reserved('tcp_addr', 'tcp_address'),
    principal_id: { read: { name: 'principal', schema: refSchema.nullable(), show: refOrNull } },
    tunnel: absent,
    tunnel_session: absent,
    edge: absent,
  },
  codes: { emptyUpdate: ENDPOINT_NUMBERS.emptyUpdate },
  drivesEdge: true,
  ofAgents: { refused: ENDPOINT_NUMBERS.badField },
  complete,
});
