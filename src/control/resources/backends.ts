import * as z from 'zod';
import type { Body, Field, Reference, Resource } from './contract.ts';
import { derive, field, notes, refSchema, resource } from './fields.ts';

const WEIGHT_LIMIT = 10_000;

export const BACKEND_KINDS = [
  'weighted_backend',
  'failover_backend',
  'static_backend',
  'http_response_backend',
  'tunnel_group_backend',
];

function backendResource(
  name: string,
  prefix: string,
  fields: Readonly<Record<string, Field>>,
  complete?: Resource['complete'],
): Resource {
  return resource({
    kind: `${name}_backend`,
    title: `${name.replace('http', 'HTTP').replaceAll('_', ' ')} backend`,
    path: `/backends/${name}`,
    prefix,
    listKey: 'backends',
    fields: { ...notes(6503, 6504), ...fields },
    codes: { notFound: 6514, inUse: 6502 },
    drivesEdge: true,
    ...(complete && { complete }),
  });
}

/** An update without `backends` empties it, as in the one update shown in the specification. */
const weights: Field = {
  ...field(
    z
      .record(z.string(), z.int().min(0).max(WEIGHT_LIMIT))
      .describe('Ids of other backends with their weights, 0 to 10000.'),
    { update: 'empties', standard: {}, codes: { bad: 6512 }, refusesNulls: true },
  ),
  refers: (backends: Body) =>
    Object.keys(backends).map((id) => childReference(id, id, 'weighted_backend', 6524)),
};

const order: Field = {
  ...field(z.array(z.string().min(1)).describe('Ids of other backends; the next is tried if a dial fails.'), {
    update: 'empties',
    standard: [],
  }),
  refers: (backends: readonly string[]) =>
    backends.map((id, index) => childReference(id, index, 'failover_backend', 6525)),
};

/** A backend must not contain one of its own kind. */
function childReference(id: string, key: string | number, owner: string, wrong: number): Reference {
  const kinds = BACKEND_KINDS.filter((kind) => kind !== owner);
  return { id, pointer: `/${key}`, kinds, missing: 6501, wrong };
}

export const weightedBackends = backendResource('weighted', 'bkdwd', { backends: weights });
export const failoverBackends = backendResource('failover', 'bkdfo', { backends: order });

export const staticBackends = backendResource('static', 'bkdsc', {
  address: field(z.string().min(1).describe('Where to connect: host and port.'), {
    create: 'required',
    codes: { missing: 6505, bad: 6505 },
    emptyIsUnset: [''],
  }),
  tls: field(
    z
      .strictObject({ enabled: z.boolean().default(false).describe('Whether the upstream uses TLS.') })
      .describe('TLS settings for the upstream.'),
    { standard: { enabled: false } },
  ),
  protocol: field(
    z
      .enum(['http1', 'http2'])
      .describe('Protocol of the upstream of an HTTPS edge; default http1. gRPC needs http2.'),
    { read: 'when_set' },
  ),
});

/** Header names are shown in lower case. Names that are given twice are left for the check of the edge, which refuses them. */
function lowerNames({ body }: { readonly body: Body }): { readonly body: Body } {
  const given = Object.entries(body['headers'] as Body);
  const headers = new Map(given.map(([name, value]) => [name.toLowerCase(), value]));
  return headers.size < given.length ? { body } : { body: { ...body, headers: Object.fromEntries(headers) } };
}

export const httpResponseBackends = backendResource(
  'http_response',
  'bkdhr',
  {
    status_code: field(z.int().min(200).max(599).describe('Status, 200 to 599.'), {
      standard: 200,
      codes: { bad: 6517 },
    }),
    headers: field(z.record(z.string(), z.string()).describe('Headers of the response.'), {
      standard: {},
    }),
    body: field(z.string().describe('Body of the response.'), {
      standard: '',
      codes: { bad: 6516 },
    }),
  },
  lowerNames,
);

const LABEL = /^[^=]+$/;

export const tunnelGroupBackends = backendResource('tunnel_group', 'bkdtg', {
  labels: field(
    z
      .record(z.string().regex(LABEL), z.string().regex(/^[^=]*$/))
      .describe('Labels that a tunnel must have; names and values without =.'),
    { update: 'keeps_if_empty', standard: {}, codes: { bad: 6508 } },
  ),
  tunnels: derive(
    z.array(refSchema).describe('Tunnels that are online and match.'),
    (_value, { body, tunnelsWith }) => tunnelsWith(body['labels'] as Record<string, string>),
  ),
});
