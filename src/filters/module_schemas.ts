// Generated from table.ts by `npm run generate`; do not edit.
import type * as z from 'zod';
import type { ModuleApi } from './module_fields_schema.ts';
import { ipRestriction } from './ip_restriction/module_schema.ts';
import { userAgentFilter } from './user_agent_filter/module_schema.ts';
import { webhookVerification } from '../webhooks/module_schema.ts';
import { oauth, oauthApi } from '../auth/oauth/module_schema.ts';
import { oidc, oidcApi } from '../auth/oidc/module_schema.ts';
import { saml, samlApi } from '../auth/saml/module_schema.ts';
import { trafficPolicy, trafficPolicyApi } from '../policy/module_schema.ts';
import { circuitBreaker } from './circuit_breaker/module_schema.ts';
import { websocketTcpConverter } from './websocket_tcp_converter/module_schema.ts';
import { requestHeaders } from './request_headers/module_schema.ts';
import { backend } from './backend/module_schema.ts';
import { responseHeaders } from './response_headers/module_schema.ts';
import { compression } from './compression/module_schema.ts';
import { tlsTerminationAtEdge, tlsTerminationAtEdgeApi } from './tls_termination/module_schema.ts';
import { mutualTls, mutualTlsApi } from './mutual_tls/module_schema.ts';
import { tlsTermination } from './tls_termination/module_schema.ts';

/** Schemas of the modules of routes of HTTPS edges. */
export const ROUTE_MODULES = {
  ip_restriction: ipRestriction.optional(),
  user_agent_filter: userAgentFilter.optional(),
  webhook_verification: webhookVerification.optional(),
  oauth: oauth.optional(),
  oidc: oidc.optional(),
  saml: saml.optional(),
  traffic_policy: trafficPolicy.optional(),
  circuit_breaker: circuitBreaker.optional(),
  websocket_tcp_converter: websocketTcpConverter.optional(),
  request_headers: requestHeaders.optional(),
  backend: backend.optional(),
  response_headers: responseHeaders.optional(),
  compression: compression.optional(),
};

/** Schemas of the modules of HTTPS edges. */
export const EDGE_MODULES = {
  tls_termination: tlsTerminationAtEdge.optional(),
  mutual_tls: mutualTls.optional(),
};

/** Schemas of the modules of TLS edges. */
export const TLS_MODULES = {
  tls_termination: tlsTermination.optional(),
  mutual_tls: mutualTls.optional(),
  ip_restriction: ipRestriction.optional(),
  traffic_policy: trafficPolicy.optional(),
  backend: backend.optional(),
};

/** Schemas of the modules of TCP edges. */
export const TCP_MODULES = {
  ip_restriction: ipRestriction.optional(),
  traffic_policy: trafficPolicy.optional(),
  backend: backend.optional(),
};

/** The forms in the management API that differ, by schema. */
export const API_FORMS: ReadonlyMap<z.ZodObject, ModuleApi> = new Map<z.ZodObject, ModuleApi>([
  [oauth, oauthApi],
  [oidc, oidcApi],
  [saml, samlApi],
  [trafficPolicy, trafficPolicyApi],
  [tlsTerminationAtEdge, tlsTerminationAtEdgeApi],
  [mutualTls, mutualTlsApi],
]);
