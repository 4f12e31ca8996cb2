import * as z from 'zod';
import { isHostProblem, readHostAndPort } from '../../edge/document/hosts.ts';
import { isInternalHost } from '../../edge/document/internal_hosts.ts';
import { policyText } from '../../policy/module_schema.ts';
import { reservedDomainOf } from './addresses.ts';
import type { Body, Completed, Draft, Field, Reading } from './contract.ts';
import { derive, field, notes, refSchema, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

/** The service's error numbers for cloud endpoints. */
export const ENDPOINT_NUMBERS = {
  url: 18001,
  policy: 18002,
  port: 18003,
  emptyUpdate: 18004,
  changedScheme: 18005,
  sameUrl: 18009,
  badField: 18014,
  poolClosed: 18016,
  notPooled: 18017,
  scheme: 18022,
  badBinding: 15005,
  notInternal: 9029,
} as const;

/** The ports of the schemes: HTTP endpoints have no other, TLS endpoints this one if the URL has none. */
const PORTS = { http: 80, https: 443, tls: 443, tcp: null } as const;

/** Where an endpoint is. */
export interface EndpointPlace {
  readonly scheme: keyof typeof PORTS;
  /** May be a wildcard. */
  readonly host: string;
  readonly port: number;
}

const URL_FORM = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*\.)?([^/?#]*)(.*)$/is;

const refusedUrl = (number: number, message: string): Error => refusedValue(number, '/url', message);

/** Reads the URL of an endpoint; throws the documented errors. */
export function readEndpointUrl(url: string): EndpointPlace {
  const [, given = '', wildcard = '', authority = '', rest = ''] = URL_FORM.exec(url)!;
  const scheme = given.toLowerCase() as EndpointPlace['scheme'];
  if (!Object.hasOwn(PORTS, scheme)) {
    const message = given === '' ? `'${url}' has no scheme` : `The scheme '${given}' is unknown`;
    throw refusedUrl(
      ENDPOINT_NUMBERS.scheme,
      `${message}; the schemes are ${Object.keys(PORTS).join(', ')}.`,
    );
  }
  if (rest !== '' && rest !== '/')
    throw refusedUrl(ENDPOINT_NUMBERS.url, `'${url}' has more than a scheme, a host and a port.`);
  const usual = PORTS[scheme];
  const hasPort = /:\d*$/.test(authority);
  if (!hasPort && usual === null) throw refusedUrl(ENDPOINT_NUMBERS.port, `'${url}' needs a port.`);
  const answer = readHostAndPort(hasPort ? authority : `${authority}:${usual}`, usual ?? 0);
  if (isHostProblem(answer)) throw refusedUrl(ENDPOINT_NUMBERS.url, `The URL is invalid: ${answer.message}.`);
  if (wildcard !== '' && scheme === 'tcp')
    throw refusedUrl(
      ENDPOINT_NUMBERS.url,
      'A TCP endpoint is found by its port, so its name cannot have a wildcard.',
    );
  const { host, port } = answer;
  if (port === 0 || (scheme.startsWith('http') && port !== usual))
    throw refusedUrl(
      ENDPOINT_NUMBERS.port,
      `The port of an ${scheme} endpoint is ${usual ?? '1 to 65535'}, not ${port}.`,
    );
  return { scheme, host: wildcard + host, port };
}

/** The URL without a port that the scheme says already. */
export function endpointUrl({ scheme, host, port }: EndpointPlace): string {
  return `${scheme}://${host}${port === PORTS[scheme] ? '' : `:${port}`}`;
}

/** The place of a stored endpoint. */
export function placeOfEndpoint(body: Body): EndpointPlace {
  return readEndpointUrl(String(body['url']));
}

async function complete({ body, before, principal, lookup, now }: Draft): Promise<Completed> {
  const place = readEndpointUrl(String(body['url']));
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
      url: endpointUrl(place),
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
    name: derive(text('Always empty.'), () => ''),
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
