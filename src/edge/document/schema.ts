import * as z from 'zod';
import { EDGE_MODULES, ROUTE_MODULES, TCP_MODULES, TLS_MODULES } from '../../filters/module_schemas.ts';
import { writtenPolicy } from './written_policy_schema.ts';
import { FIXED, backend, notes } from './backend_schema.ts';

/**
 * The schema of the edge file. It provides the types at compile time and `edge_file.schema.json` when that is
 * generated. It is never imported at run time, because loading zod takes longer than all of `edgeproof check` may take.
 * Checks beyond a schema (references, hosts, patterns) are in the files beside it.
 */

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/)
  .meta({ form: "a name of letters, digits, '-', '_' and '.', at most 100 characters" });

const ipPolicy = z
  .strictObject({
    ...notes,
    rules: z
      .array(
        z
          .strictObject({
            ...notes,
            cidr: z.string().min(1).describe("Range of addresses in CIDR notation, such as '192.0.2.0/24'."),
            action: z
              .enum(['allow', 'deny'])
              .describe('Whether the rule allows or denies addresses in its range.'),
          })
          .describe('A range of addresses to allow or deny.'),
      )
      .describe('Rules in any order: an address needs at least one allow and no deny.'),
  })
  .describe('A named set of address rules.');

const routeShape = {
  match_type: z
    .enum(['exact_path', 'path_prefix'])
    .describe('Whether the whole path must be equal, or only its prefix.'),
  match: z.string().min(1).describe('Requests to match: a path, a host, or a host followed by a path.'),
  ...notes,
  ...ROUTE_MODULES,
};
const ROUTE = 'A route: the requests that it matches, and the modules that process them.';
const route = z.strictObject(routeShape).describe(ROUTE);

const hostports = (description: string) =>
  z
    .array(z.string().min(1))
    .min(1)
    .meta({ description, ...FIXED });

const httpsEdgeShape = {
  ...notes,
  hostports: hostports("Host and port pairs of the edge, such as 'shop.test:443'."),
  ...EDGE_MODULES,
};
const HTTPS_EDGE = 'An HTTPS edge: host names and their routes.';
const ROUTES = 'Routes in any order; the most specific matching one is used.';
const httpsEdge = z
  .strictObject({ ...httpsEdgeShape, routes: z.array(route).default([]).describe(ROUTES) })
  .describe(HTTPS_EDGE);

const tlsEdgeShape = {
  ...notes,
  hostports: hostports(
    "Host and port pairs of the edge, such as 'db.test:443'; connections are matched by server name.",
  ),
  ...TLS_MODULES,
};
const TLS_EDGE = 'A TLS edge: connections are matched by server name, whatever protocol is inside.';
const tlsEdge = z.strictObject(tlsEdgeShape).describe(TLS_EDGE);

const tcpEdgeShape = {
  ...notes,
  hostports: hostports(
    "Host and port pairs of the edge, such as '1.tcp.test:5432'; the edge listens on each of these ports.",
  ),
  ...TCP_MODULES,
};
const TCP_EDGE = 'A TCP edge: connections are matched by their port.';
const tcpEdge = z.strictObject(tcpEdgeShape).describe(TCP_EDGE);

const pem = (description: string) =>
  z
    .string()
    .min(1)
    .optional()
    .meta({ description, ...FIXED });

const tlsCertificate = z
  .strictObject({
    ...notes,
    certificate_pem: pem('The certificate and its chain, leaf first, in PEM.'),
    certificate_file: pem('PEM file with the certificate and its chain instead, relative to the edge file.'),
    private_key_pem: pem('The private key of the first certificate, in PEM.'),
    private_key_file: pem('PEM file with the private key instead, relative to the edge file.'),
  })
  .describe('A certificate that the edge presents for the host names in it.');

const certificateAuthority = z
  .strictObject({
    ...notes,
    ca_pem: pem('The certificate of the authority, in PEM.'),
    ca_file: pem('PEM file with the certificate instead, relative to the edge file.'),
  })
  .describe('A certificate authority whose certificates mutual TLS accepts.');

const text = z.string().min(1);

const property = z
  .strictObject({
    name: text.optional().describe('The statement, as a sentence.'),
    where: text.optional().describe('An expression that selects requests; default all.'),
    never: z
      .strictObject({
        end: z
          .enum(['forwarded', 'stopped', 'blocked'])
          .describe('Whether they reach a backend, are not forwarded, or are refused.'),
        backend: text.optional().describe('Only this backend; default any.'),
        without: z
          .array(text)
          .optional()
          .describe('Only requests that passed none of these modules and actions; `login` is any login.'),
      })
      .optional()
      .describe('What never happens to them.'),
    use: text.optional().describe('A ready-made property.'),
    with: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .optional()
      .describe('Parameters of the ready-made property.'),
  })
  .describe('A statement: `never` with `where`, or a ready-made one with `use`.');

const fileShape = {
  service_name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,62}$/)
    .default('service')
    .meta({
      description: 'Name of the service; used in error codes, cookie names and header names.',
      form: "a lower-case letter followed by lower-case letters, digits and '-', at most 63 characters",
      ...FIXED,
    }),
  facts: z
    .unknown()
    .optional()
    .meta({
      description:
        'Facts about addresses and connections (geography, networks, reputation): a list of ranges with their ' +
        'facts, or a map of variables.',
      ...FIXED,
    }),
  address_databases: z
    .array(z.string().min(1))
    .default([])
    .describe('Files in the MaxMind format, looked up in order for what `facts` does not say.'),
  underscore_headers: z
    .enum(['drop', 'pass'])
    .optional()
    .describe(
      'What to do with request headers whose names contain an underscore, which some upstreams read as a dash: drop (the default) or pass.',
    ),
  ip_policies: z.record(name, ipPolicy).default({}).describe('IP policies by name.'),
  backends: z.record(name, backend).default({}).describe('Backends by name.'),
  tls_certificates: z
    .record(name, tlsCertificate)
    .default({})
    .describe('Certificates by name; hosts without one get a certificate of the local authority.'),
  certificate_authorities: z
    .record(name, certificateAuthority)
    .default({})
    .meta({ description: 'Certificate authorities by name, for mutual TLS.', ...FIXED }),
  properties: z
    .array(property)
    .min(1)
    .optional()
    .describe('Statements about every request, for `edgeproof prove`; they change nothing.'),
};

const FILE = 'Configuration of an edge.';

function edgesOf<Https extends z.ZodType, Tls extends z.ZodType, Tcp extends z.ZodType>(
  https: Https,
  tls: Tls,
  tcp: Tcp,
) {
  return z
    .strictObject({
      https: z.record(name, https).default({}).describe('HTTPS edges by name.'),
      tls: z.record(name, tls).default({}).describe('TLS edges by name.'),
      tcp: z.record(name, tcp).default({}).describe('TCP edges by name.'),
    })
    .describe('The edges of this file.');
}

/** An edge as it is run. */
export const edgeFile = z
  .strictObject({ ...fileShape, edges: edgesOf(httpsEdge, tlsEdge, tcpEdge) })
  .describe(FILE);

/** The keys of an edge file that is whole: it names no other files. */
export const EDGE_FILE_KEYS: readonly string[] = Object.keys(edgeFile.shape);

/** An edge file as it is written: it may name other files. */
export const writtenEdgeFile = z
  .strictObject({
    include: z
      .union([z.string().min(1), z.array(z.string().min(1))])
      .optional()
      .describe(
        'Further edge files, relative to this one: paths, or patterns such as `edges/*.yaml`. Nothing may be defined twice.',
      ),
    ...fileShape,
    edges: edgesOf(
      z
        .strictObject({
          ...httpsEdgeShape,
          routes: z
            .array(z.strictObject({ ...routeShape, traffic_policy: writtenPolicy }).describe(ROUTE))
            .default([])
            .describe(ROUTES),
        })
        .describe(HTTPS_EDGE),
      z.strictObject({ ...tlsEdgeShape, traffic_policy: writtenPolicy }).describe(TLS_EDGE),
      z.strictObject({ ...tcpEdgeShape, traffic_policy: writtenPolicy }).describe(TCP_EDGE),
    ),
  })
  .describe(FILE);

/** An edge file as it is written: keys with defaults may be left out. */
export interface EdgeConfigInput extends z.input<typeof writtenEdgeFile> {}
/** An edge file with all defaults filled in, without what is stated about it. */
export type EdgeConfig = Omit<z.output<typeof edgeFile>, 'properties'>;
/** A statement of an edge file about itself. */
export type WrittenProperty = z.output<typeof property>;
export type HttpsEdgeConfig = EdgeConfig['edges']['https'][string];
export type TlsEdgeConfig = z.output<typeof tlsEdge>;
export type TcpEdgeConfig = z.output<typeof tcpEdge>;
/** A route of a file, or of the management API, where it has an id. */
export type RouteConfig = z.output<typeof route> & { readonly id?: string };
export type IpPolicyConfig = z.output<typeof ipPolicy>;
export type BackendConfig = z.output<typeof backend>;

/** The edge file as a JSON Schema for editors (draft 7, which YAML language servers read) and for `shape.ts`. */
export function edgeFileJsonSchema(): object {
  const schema = z.toJSONSchema(writtenEdgeFile, { target: 'draft-7', io: 'input' });
  const { $schema, ...rest } = schema;
  return { $schema, title: 'edgeproof edge file', ...rest };
}
