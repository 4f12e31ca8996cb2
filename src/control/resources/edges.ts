import * as z from 'zod';
import { isHostProblem, readHostAndPort } from '../../edge/document/hosts.ts';
import type { Body, Completed, Field, Resource } from './contract.ts';
import { derive, field, notes, resource } from './fields.ts';
import { EDGE_FIELDS, ROUTE_FIELDS, TCP_FIELDS, TLS_FIELDS } from './module_fields.ts';
import { refusedValue } from './problem.ts';

/** The only port of an HTTPS edge. */
const HTTPS_PORT = 443;

const hostports = field(
  z.array(z.string().min(1)).describe("Host and port pairs, such as 'shop.test:443'."),
  { read: 'or_null', codes: { bad: 7104 } },
);

/** Checks hostports and converts them to lower case; `port` is the required port, if any. */
function completeHostports({ body }: { readonly body: Body }, port: number | null): Completed {
  const given = body['hostports'] as readonly string[] | undefined;
  if (given === undefined) return { body };
  const read = given.map((hostport, index) => {
    const wildcard = hostport.startsWith('*.') ? '*.' : '';
    const answer = readHostAndPort(hostport.slice(wildcard.length), port ?? HTTPS_PORT);
    const pointer = `/hostports/${index}`;
    if (isHostProblem(answer)) throw refusedValue(7104, pointer, `${answer.message}.`);
    if (answer.port === 0) throw refusedValue(7112, pointer, 'A port must be a number from 1 to 65535.');
    if (port !== null && answer.port !== port) {
      throw refusedValue(7116, pointer, `An HTTPS edge must use port ${port}.`);
    }
    return `${wildcard}${answer.host}:${answer.port}`;
  });
  const firstAt = new Map(read.map((hostport, index) => [hostport, index] as const).toReversed());
  const twice = read.findIndex((hostport, index) => firstAt.get(hostport)! < index);
  if (twice >= 0) throw refusedValue(7122, `/hostports/${twice}`, `'${read[twice]!}' is listed twice.`);
  return { body: { ...body, hostports: read } };
}

function edge(name: 'https' | 'tcp' | 'tls', modules: Readonly<Record<string, Field>>): Resource {
  return resource({
    kind: `${name}_edge`,
    title: `${name.toUpperCase()} edge`,
    path: `/edges/${name}`,
    prefix: { https: 'edghts', tcp: 'edgtcp', tls: 'edgtls' }[name],
    listKey: `${name}_edges`,
    fields: { ...notes(), hostports, ...modules },
    codes: { notFound: 7000 },
    drivesEdge: true,
    complete: (draft) => completeHostports(draft, name === 'https' ? HTTPS_PORT : null),
    claims: (body) =>
      ((body['hostports'] as readonly string[] | undefined) ?? []).map((value) => ({
        space: 'hostport',
        value,
        number: 7122,
      })),
  });
}

export const httpsEdges: Resource = {
  ...edge('https', EDGE_FIELDS),
  children: { kind: 'https_edge_route', name: 'routes' },
};

/** Former policies; always null. */
const formerPolicy = derive(z.null().describe('Always null.'), () => null);

export const tcpEdges = edge('tcp', { ...TCP_FIELDS, policy: formerPolicy });

export const tlsEdges = edge('tls', { ...TLS_FIELDS, policy: formerPolicy });

export const httpsEdgeRoutes = resource({
  kind: 'https_edge_route',
  title: 'HTTPS edge route',
  path: '/edges/https/{edge_id}/routes',
  prefix: 'edghtsrt',
  listKey: 'routes',
  operations: ['create', 'get', 'update', 'delete'],
  parent: { kind: 'https_edge', parameter: 'edge_id' },
  fields: {
    ...notes(),
    edge_id: derive(z.string().describe('The edge of the route.')),
    match_type: field(
      z.enum(['exact_path', 'path_prefix']).describe('Whether the match applies to the whole path.'),
      { create: 'required', codes: { missing: 7130, bad: 7130 }, emptyIsUnset: [''] },
    ),
    match: field(z.string().min(1).describe('A path, a host, or a host followed by a path.'), {
      create: 'required',
      codes: { missing: 7123, bad: 7131 },
      emptyIsUnset: [''],
    }),
    ...ROUTE_FIELDS,
    policy: formerPolicy,
  },
  codes: { notFound: 7124 },
  drivesEdge: true,
});
