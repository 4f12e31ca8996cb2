import * as z from 'zod';
import { backendModule } from '../../modules/backend/schema.ts';
import { circuitBreaker } from '../../modules/circuit_breaker/schema.ts';
import { compression } from '../../modules/compression/schema.ts';
import { ipRestriction } from '../../modules/ip_restriction/schema.ts';
import { oauth } from '../../modules/oauth/schema.ts';
import { oidc } from '../../modules/oidc/schema.ts';
import { requestHeaders } from '../../modules/request_headers/schema.ts';
import { responseHeaders } from '../../modules/response_headers/schema.ts';
import { saml } from '../../modules/saml/schema.ts';
import { textOfBytes } from '../../modules/schema.ts';
import { trafficPolicy } from '../../modules/traffic_policy/schema.ts';
import { userAgentFilter } from '../../modules/user_agent_filter/schema.ts';
import { webhookVerification } from '../../modules/webhook_verification/schema.ts';
import { websocketTcpConverter } from '../../modules/websocket_tcp_converter/schema.ts';

/**
 * The edge file. Types come from here at compile time, `edge_file.schema.json` when it is generated; nothing
 * that runs imports this file, because loading zod takes longer than all of `edgeproof check` may.
 * What a schema cannot say (names that exist, hosts, patterns) is checked beside it, one file a concern.
 */

const DESCRIPTION_LIMIT_BYTES = 255;
const METADATA_LIMIT_BYTES = 4096;

const notes = {
  description: textOfBytes(DESCRIPTION_LIMIT_BYTES, 'What this is for, at most 255 bytes.').optional(),
  metadata: textOfBytes(
    METADATA_LIMIT_BYTES,
    'Arbitrary machine-readable data, at most 4096 bytes.',
  ).optional(),
};

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
            action: z.enum(['allow', 'deny']).describe('What the rule says of addresses in its range.'),
          })
          .describe('One range of addresses that is allowed or denied.'),
      )
      .describe('Rules in any order: an address needs one allow and no deny.'),
  })
  .describe('A named set of address rules.');

const staticBackend = z
  .strictObject({
    address: z.string().min(1).describe("Where to connect: host and port, such as 'localhost:3000'."),
    tls: z
      .strictObject({ enabled: z.boolean().default(false).describe('Whether to speak TLS to the upstream.') })
      .optional()
      .describe('TLS towards the upstream.'),
  })
  .describe('One upstream address.');

const httpResponseBackend = z
  .strictObject({
    status_code: z.int().min(200).max(599).describe('Status of the response, 200 to 599.'),
    headers: z.record(z.string(), z.string()).default({}).describe('Headers of the response.'),
    body: z.string().default('').describe('Body of the response.'),
  })
  .describe('A fixed response, without an upstream.');

const backend = z
  .strictObject({
    ...notes,
    static: staticBackend.optional(),
    http_response: httpResponseBackend.optional(),
    weighted: z
      .record(z.string(), z.int().min(0).max(10_000))
      .optional()
      .describe('Names of other backends with their weights, 0 to 10000; chosen by chance for each request.'),
    failover: z
      .array(z.string().min(1))
      .optional()
      .describe('Names of other backends in order; the next is tried only when a connection fails.'),
  })
  .describe('Where requests go: exactly one of static, http_response, weighted and failover.');

const route = z
  .strictObject({
    match_type: z
      .enum(['exact_path', 'path_prefix'])
      .describe('Whether the whole path has to be equal, or only its beginning.'),
    match: z.string().min(1).describe('Which requests: a path, a host, or a host followed by a path.'),
    ...notes,
    backend: backendModule.optional(),
    ip_restriction: ipRestriction.optional(),
    circuit_breaker: circuitBreaker.optional(),
    compression: compression.optional(),
    request_headers: requestHeaders.optional(),
    response_headers: responseHeaders.optional(),
    webhook_verification: webhookVerification.optional(),
    oauth: oauth.optional(),
    saml: saml.optional(),
    oidc: oidc.optional(),
    websocket_tcp_converter: websocketTcpConverter.optional(),
    user_agent_filter: userAgentFilter.optional(),
    traffic_policy: trafficPolicy.optional(),
  })
  .describe('One route: which requests it takes, and the modules that act on them.');

const httpsEdge = z
  .strictObject({
    ...notes,
    hostports: z
      .array(z.string().min(1))
      .min(1)
      .describe("Host and port pairs that the edge answers for, such as 'shop.test:443'."),
    routes: z
      .array(route)
      .default([])
      .describe('Routes in any order; the most specific one takes a request.'),
  })
  .describe('An HTTPS edge: host names and their routes.');

export const edgeFile = z
  .strictObject({
    service_name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,62}$/)
      .default('service')
      .meta({
        description: 'Name of the service; error codes, cookie prefix and header names derive from it.',
        form: "a lower-case letter followed by lower-case letters, digits and '-', at most 63 characters",
      }),
    facts: z
      .unknown()
      .optional()
      .describe(
        'What is known of addresses and connections (geography, networks, reputation): a list of ranges with their ' +
          'facts, or a map of variables. See docs/facts.md.',
      ),
    address_databases: z
      .array(z.string().min(1))
      .default([])
      .describe('Files in the MaxMind format that are asked for what `facts` does not say, in order.'),
    ip_policies: z.record(name, ipPolicy).default({}).describe('IP policies by name.'),
    backends: z.record(name, backend).default({}).describe('Backends by name.'),
    edges: z
      .strictObject({ https: z.record(name, httpsEdge).default({}).describe('HTTPS edges by name.') })
      .describe('The edges of this file.'),
  })
  .describe('Configuration of an edge.');

export type EdgeConfig = z.output<typeof edgeFile>;
export type HttpsEdgeConfig = EdgeConfig['edges']['https'][string];
export type RouteConfig = z.output<typeof route>;
export type IpPolicyConfig = z.output<typeof ipPolicy>;
export type BackendConfig = z.output<typeof backend>;

/** The edge file as a JSON Schema for editors (draft 7, which language servers for YAML read) and for `shape.ts`. */
export function edgeFileJsonSchema(): object {
  const schema = z.toJSONSchema(edgeFile, { target: 'draft-7', io: 'input' });
  const { $schema, ...rest } = schema;
  return { $schema, title: 'edgeproof edge file', ...rest };
}
