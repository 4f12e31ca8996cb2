import * as z from 'zod';
import { backendModule } from '../modules/backend/schema.ts';
import { circuitBreaker } from '../modules/circuit_breaker/schema.ts';
import { compression } from '../modules/compression/schema.ts';
import { ipRestriction } from '../modules/ip_restriction/schema.ts';
import { oauth } from '../modules/oauth/schema.ts';
import { oidc } from '../modules/oidc/schema.ts';
import { requestHeaders } from '../modules/request_headers/schema.ts';
import { responseHeaders } from '../modules/response_headers/schema.ts';
import { serviceAddresses } from '../modules/saml/addresses.ts';
import { saml } from '../modules/saml/schema.ts';
import { enabled } from '../modules/schema.ts';
import { trafficPolicy } from '../modules/traffic_policy/schema.ts';
import { userAgentFilter } from '../modules/user_agent_filter/schema.ts';
import { webhookVerification } from '../modules/webhook_verification/schema.ts';
import { websocketTcpConverter } from '../modules/websocket_tcp_converter/schema.ts';
import type { Body, Field, FieldCodes, Reading, Reference } from './contract.ts';
import { refSchema, referencesOf } from './fields.ts';

/** Any kind of backend. */
const BACKEND_KINDS = [
  'weighted_backend',
  'failover_backend',
  'static_backend',
  'http_response_backend',
  'tunnel_group_backend',
];

interface ModuleShape {
  /** What responses have instead of the request's shape. */
  readonly shown?: {
    readonly schema: z.ZodType;
    readonly show: (module: Body, reading: Reading) => Body;
  };
  readonly refers?: (module: never) => readonly Reference[];
  readonly codes?: FieldCodes;
  readonly secrets?: readonly string[];
}

/** A module: null in responses when it is not configured. */
function module(name: string, schema: z.ZodType, { shown, refers, codes, secrets }: ModuleShape = {}): Field {
  return {
    isModule: true,
    write: { schema, create: 'optional', update: 'keeps', ...(codes && { codes }) },
    ...(refers && { refers }),
    ...(secrets && { secrets }),
    read: {
      name,
      schema: (shown?.schema ?? schema).nullable(),
      show: (body, reading) => {
        const value = body[name] as Body | undefined;
        if (value === undefined) return null;
        return shown === undefined ? value : shown.show(value, reading);
      },
    },
  };
}

export const backend = module('backend', backendModule, {
  shown: {
    schema: z.strictObject({ enabled, backend: refSchema }),
    show: (value, { refOf }) => ({
      enabled: value['enabled'],
      backend: refOf(value['backend_id'] as string),
    }),
  },
  refers: ({ backend_id: id }: { backend_id: string }) => [
    { id, pointer: '/backend_id', kinds: BACKEND_KINDS, missing: 6514, wrong: 242 },
  ],
});

export const ipRestrictionModule = module('ip_restriction', ipRestriction, {
  codes: { bad: 7025 },
  shown: {
    schema: z.strictObject({ enabled, ip_policies: z.array(refSchema) }),
    show: (value, { refOf }) => ({
      enabled: value['enabled'],
      ip_policies: (value['ip_policy_ids'] as string[]).map(refOf),
    }),
  },
  refers: ({ ip_policy_ids: ids }: { ip_policy_ids: string[] }) =>
    referencesOf(ids, '/ip_policy_ids', ['ip_policy'], 1402, 229),
});

/** Certificate authorities that one edge may name. */
const AUTHORITIES_LIMIT = 10;

export const mutualTls = module(
  'mutual_tls',
  z
    .strictObject({
      enabled,
      certificate_authority_ids: z
        .array(z.string().min(1))
        .min(1)
        .max(AUTHORITIES_LIMIT)
        .describe('Certificate authorities, 1 to 10, that may have signed the certificates of clients.'),
    })
    .describe('Asks clients for a certificate.'),
  {
    codes: { bad: 7075 },
    shown: {
      schema: z.strictObject({ enabled, certificate_authorities: z.array(refSchema) }),
      show: (value, { refOf }) => ({
        enabled: value['enabled'],
        certificate_authorities: (value['certificate_authority_ids'] as string[]).map(refOf),
      }),
    },
    refers: ({ certificate_authority_ids: ids }: { certificate_authority_ids: string[] }) =>
      referencesOf(ids, '/certificate_authority_ids', ['certificate_authority'], 7072, 228),
  },
);

const minVersion = z
  .enum(['1.0', '1.1', '1.2', '1.3'])
  .default('1.2')
  .describe('The oldest version of TLS that clients may speak.');

const terminateAt = z
  .enum(['edge', 'agent', 'upstream'])
  .default('edge')
  .describe('Who ends the TLS of clients.');

const tlsTerminationShown = z.strictObject({ enabled, terminate_at: terminateAt, min_version: minVersion });

/** An HTTPS edge always ends TLS itself. */
export const tlsTerminationAtEdge = module(
  'tls_termination',
  z.strictObject({ enabled, min_version: minVersion }).describe('How the edge ends TLS.'),
  {
    codes: { bad: 7109, below: { terminate_at: 7109 } },
    shown: { schema: tlsTerminationShown, show: (value) => ({ ...value, terminate_at: 'edge' }) },
  },
);

export const tlsTermination = module('tls_termination', tlsTerminationShown, { codes: { bad: 224 } });

const OAUTH_PROVIDERS = [
  'github',
  'facebook',
  'microsoft',
  'google',
  'linkedin',
  'gitlab',
  'twitch',
  'amazon',
] as const;

const oauthShown = oauth.extend({
  provider: z.strictObject(
    Object.fromEntries(
      OAUTH_PROVIDERS.map((name) => [name, oauth.shape.provider.shape[name].unwrap().nullable()]),
    ),
  ),
});

/** Responses name all providers, the unused ones null. */
function showOauth(value: Body, { service }: Reading): Body {
  const provider = value['provider'] as Body;
  return {
    ...value,
    cookie_prefix: value['cookie_prefix'] === undefined ? `${service}.` : value['cookie_prefix'],
    provider: Object.fromEntries(OAUTH_PROVIDERS.map((name) => [name, provider[name] ?? null])),
  };
}

const samlShown = saml.extend({
  entity_id: z.string().describe('Id of the service provider, a URL.'),
  assertion_consumer_service_url: z.string().describe('Where assertions go.'),
  single_logout_url: z.string().describe('Where logouts go.'),
  request_signing_certificate_pem: z.string().describe('Certificate of the key that signs requests.'),
  metadata_url: z.string().describe("Where the service provider's metadata is."),
  idp_metadata_url: z.string().describe('Always empty.'),
});

/** The addresses of the service provider, which the edge answers at, and the certificate of its key. */
function showSaml(value: Body, { id, service, samlCertificate }: Reading): Body {
  const { entityId, acsUrl, sloUrl } = serviceAddresses(service, id);
  return {
    cookie_prefix: '',
    ...value,
    entity_id: entityId,
    assertion_consumer_service_url: acsUrl,
    single_logout_url: sloUrl,
    request_signing_certificate_pem: samlCertificate(id),
    metadata_url: entityId,
    idp_metadata_url: '',
  };
}

export const trafficPolicyModule = module('traffic_policy', trafficPolicy);

/** Every module of a route, in the order of the specification. */
// table: the modules of a route
export const ROUTE_MODULES: Readonly<Record<string, Field>> = {
  backend,
  ip_restriction: ipRestrictionModule,
  circuit_breaker: module('circuit_breaker', circuitBreaker, {
    codes: { below: { num_buckets: 7018, error_threshold_percentage: 7011 } },
  }),
  compression: module('compression', compression),
  request_headers: module('request_headers', requestHeaders),
  response_headers: module('response_headers', responseHeaders),
  webhook_verification: module('webhook_verification', webhookVerification, {
    codes: { bad: 7030 },
    secrets: ['/secret'],
  }),
  oauth: module('oauth', oauth, {
    secrets: ['/provider/*/client_secret'],
    shown: { schema: oauthShown, show: showOauth },
  }),
  saml: module('saml', saml, { shown: { schema: samlShown, show: showSaml } }),
  oidc: module('oidc', oidc, {
    secrets: ['/client_secret'],
    shown: { schema: oidc, show: (value) => ({ cookie_prefix: '', ...value }) },
  }),
  websocket_tcp_converter: module('websocket_tcp_converter', websocketTcpConverter),
  user_agent_filter: module('user_agent_filter', userAgentFilter),
  traffic_policy: trafficPolicyModule,
};
