import * as z from 'zod';
import { backend as backendModule } from '../../filters/backend/module_schema.ts';
import { circuitBreaker } from '../../filters/circuit_breaker/module_schema.ts';
import { compression } from '../../filters/compression/module_schema.ts';
import { ipRestriction } from '../../filters/ip_restriction/module_schema.ts';
import { oauth } from '../../auth/oauth/module_schema.ts';
import { oidc } from '../../auth/oidc/module_schema.ts';
import { requestHeaders } from '../../filters/request_headers/module_schema.ts';
import { responseHeaders } from '../../filters/response_headers/module_schema.ts';
import { serviceAddresses } from '../../auth/saml/service_addresses.ts';
import { saml } from '../../auth/saml/module_schema.ts';
import { enabled } from '../../filters/module_fields_schema.ts';
import type { Reference as FactReference } from '../../filters/facts.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import { trafficPolicy } from '../../policy/module_schema.ts';
import { userAgentFilter } from '../../filters/user_agent_filter/module_schema.ts';
import { webhookVerification } from '../../webhooks/module_schema.ts';
import { websocketTcpConverter } from '../../filters/websocket_tcp_converter/module_schema.ts';
import type { Body, Field, FieldCodes, Reading, Reference } from './contract.ts';
import { refSchema, referencesOf } from './fields.ts';

/** Kinds of object by the kind of reference. */
const KINDS: Readonly<Record<FactReference['kind'], readonly string[]>> = {
  backend: [
    'weighted_backend',
    'failover_backend',
    'static_backend',
    'http_response_backend',
    'tunnel_group_backend',
  ],
  certificate_authority: ['certificate_authority'],
  ip_policy: ['ip_policy'],
};

/** Error numbers of references: to an object that does not exist, and to one of another kind. */
type ReferenceNumbers = Pick<Reference, 'missing' | 'wrong'>;

interface ModuleShape {
  /** The shape in responses, if it differs from requests. */
  readonly shown?: {
    readonly schema: z.ZodType;
    readonly show: (module: Body, reading: Reading) => Body;
  };
  readonly refers?: ReferenceNumbers;
  readonly codes?: FieldCodes;
}

/** A module: null in responses if it is not configured. */
function module(name: string, schema: z.ZodType, { shown, refers, codes }: ModuleShape = {}): Field {
  const { references = [], secrets } = MODULE_FACTS.get(name)!;
  return {
    isModule: true,
    write: { schema, create: 'optional', update: 'keeps', ...(codes && { codes }) },
    ...(refers && { refers: (config: Body) => referencesIn(config, references, refers) }),
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

/** The ids in a config, at the places that the module declares. */
function referencesIn(
  config: Body,
  references: readonly FactReference[],
  numbers: ReferenceNumbers,
): readonly Reference[] {
  return references.flatMap(({ kind, at }) => {
    const list = at.endsWith('/*') ? at.slice(0, -'/*'.length) : null;
    const value = config[(list ?? at).slice(1)];
    return list === null
      ? [{ id: value as string, pointer: at, kinds: KINDS[kind], ...numbers }]
      : referencesOf(value as readonly string[], list, KINDS[kind], numbers.missing, numbers.wrong);
  });
}

export const backend = module('backend', backendModule, {
  shown: {
    schema: z.strictObject({ enabled, backend: refSchema }),
    show: (value, { refOf }) => ({
      enabled: value['enabled'],
      backend: refOf(value['backend_id'] as string),
    }),
  },
  refers: { missing: 6514, wrong: 242 },
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
  refers: { missing: 1402, wrong: 229 },
});

/** Maximum number of certificate authorities of one edge. */
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
        .describe('Certificate authorities, 1 to 10, that may issue client certificates.'),
    })
    .describe('Requests a certificate from clients.'),
  {
    codes: { bad: 7075 },
    shown: {
      schema: z.strictObject({ enabled, certificate_authorities: z.array(refSchema) }),
      show: (value, { refOf }) => ({
        enabled: value['enabled'],
        certificate_authorities: (value['certificate_authority_ids'] as string[]).map(refOf),
      }),
    },
    refers: { missing: 7072, wrong: 228 },
  },
);

const minVersion = z
  .enum(['1.0', '1.1', '1.2', '1.3'])
  .default('1.2')
  .describe('The oldest TLS version that clients may use.');

const terminateAt = z
  .enum(['edge', 'agent', 'upstream'])
  .default('edge')
  .describe('Where TLS of clients is terminated.');

const tlsTerminationShown = z.strictObject({ enabled, terminate_at: terminateAt, min_version: minVersion });

/** An HTTPS edge always terminates TLS itself. */
export const tlsTerminationAtEdge = module(
  'tls_termination',
  z.strictObject({ enabled, min_version: minVersion }).describe('How the edge terminates TLS.'),
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

/** Responses list all providers, unused ones as null. */
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
  assertion_consumer_service_url: z.string().describe('URL for assertions.'),
  single_logout_url: z.string().describe('URL for logouts.'),
  request_signing_certificate_pem: z.string().describe('Certificate of the key that signs requests.'),
  metadata_url: z.string().describe("URL of the service provider's metadata."),
  idp_metadata_url: z.string().describe('Always empty.'),
});

/** The service provider URLs of the edge, and the certificate of its key. */
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
  }),
  oauth: module('oauth', oauth, {
    shown: { schema: oauthShown, show: showOauth },
  }),
  saml: module('saml', saml, { shown: { schema: samlShown, show: showSaml } }),
  oidc: module('oidc', oidc, {
    shown: { schema: oidc, show: (value) => ({ cookie_prefix: '', ...value }) },
  }),
  websocket_tcp_converter: module('websocket_tcp_converter', websocketTcpConverter),
  user_agent_filter: module('user_agent_filter', userAgentFilter),
  traffic_policy: trafficPolicyModule,
};
