import * as z from 'zod';
import { upstream } from './upstream_schema.ts';

/** The schema of agents in scenarios; `schema.ts` describes how such schemas are used. */

const texts = z.array(z.string()).optional();

/** Options of endpoints, with the names that `forward` of the SDK for Node gives them. */
const endpoint = z.strictObject({
  url: z
    .string()
    .optional()
    .describe(
      "Endpoint that it binds: 'https://shop.test', 'https://*.shop.test', 'https://app.internal', 'tls://db.test', 'tcp://1.tcp.test:5432'.",
    ),
  pooling_enabled: z
    .boolean()
    .optional()
    .describe('Whether it shares the URL with other agents that ask for it; default false.'),
  traffic_policy: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .optional()
    .describe('Its own traffic policy: a text of YAML or JSON, or a map.'),
  basic_auth: texts.describe("Credentials, such as 'user:password'."),
  ip_restriction_allow_cidrs: texts.describe('Address ranges that may connect.'),
  ip_restriction_deny_cidrs: texts.describe('Address ranges that may not connect.'),
  allow_user_agent: texts.describe('Patterns of user agents that may pass.'),
  deny_user_agent: texts.describe('Patterns of user agents that may not pass.'),
  request_header_add: texts.describe("Fields to add to requests, such as 'x-shop: 1'."),
  request_header_remove: texts.describe('Fields to remove from requests.'),
  response_header_add: texts.describe('Fields to add to responses.'),
  response_header_remove: texts.describe('Fields to remove from responses.'),
  compression: z.boolean().optional().describe('Whether responses are compressed; default false.'),
  circuit_breaker: z.number().optional().describe('Share of failed requests at which it trips.'),
  websocket_tcp_converter: z.boolean().optional().describe('Whether WebSockets become TCP; default false.'),
  verify_webhook_provider: z.string().optional().describe('Provider of the webhooks that it accepts.'),
  verify_webhook_secret: z.string().optional().describe('Secret of those webhooks.'),
  mutual_tls_cas: texts.describe('Authorities of client certificates, as PEM.'),
  oauth_provider: z.string().optional().describe('Provider where visitors log in.'),
  oauth_client_id: z.string().optional().describe('Client id at that provider.'),
  oauth_client_secret: z.string().optional().describe('Client secret at that provider.'),
  oauth_scopes: texts.describe('Scopes to ask that provider for.'),
  oauth_allow_emails: texts.describe('E-mail addresses that may pass.'),
  oauth_allow_domains: texts.describe('Domains of e-mail addresses that may pass.'),
  oidc_issuer_url: z.string().optional().describe('OpenID provider where visitors log in.'),
  oidc_client_id: z.string().optional().describe('Client id at that OpenID provider.'),
  oidc_client_secret: z.string().optional().describe('Client secret at that OpenID provider.'),
  oidc_scopes: texts.describe('Scopes to ask that OpenID provider for.'),
  oidc_allow_emails: texts.describe('E-mail addresses that may pass.'),
  oidc_allow_domains: texts.describe('Domains of e-mail addresses that may pass.'),
  crt: z.string().optional().describe('Certificate with which the edge terminates TLS, as PEM.'),
  key: z.string().optional().describe('Private key of that certificate, as PEM.'),
});

const agent = endpoint
  .extend({
    labels: z
      .record(z.string(), z.string())
      .optional()
      .describe('Labels of its tunnel, by which backends with `tunnel_group` select it.'),
    online: z.boolean().optional().describe('Whether it is connected; default true.'),
    upstream: upstream
      .optional()
      .describe('Response of its own upstream; default: the response of the backend under `upstreams`.'),
  })
  .describe(
    'An agent with one tunnel, found by its labels or at its URL; for an agent that is known already, only the changes.',
  );

export const agents = z
  .record(z.string(), agent)
  .meta({ id: 'agents', description: 'Agents by name, whose tunnels are backends or endpoints.' });

export type EndpointOptions = z.output<typeof endpoint>;
