import { addHeaders } from './add_headers/facts.ts';
import { aiGateway } from './ai_gateway/facts.ts';
import { backend } from './backend/facts.ts';
import { basicAuth } from './basic_auth/facts.ts';
import { circuitBreaker } from './circuit_breaker/facts.ts';
import { closeConnection } from './close_connection/facts.ts';
import { compression } from './compression/facts.ts';
import { customResponse } from './custom_response/facts.ts';
import { deny } from './deny/facts.ts';
import { forwardInternal } from './forward_internal/facts.ts';
import { httpRequest } from './http_request/facts.ts';
import { ipRestriction } from './ip_restriction/facts.ts';
import { jwtValidation } from './jwt_validation/facts.ts';
import { log } from './log/facts.ts';
import { mutualTls } from './mutual_tls/facts.ts';
import { oauth } from '../auth/oauth/facts.ts';
import { oidc } from '../auth/oidc/facts.ts';
import { owaspCrsRequest } from './owasp_crs_request/facts.ts';
import { owaspCrsResponse } from './owasp_crs_response/facts.ts';
import { rateLimit } from './rate_limit/facts.ts';
import { redirect } from './redirect/facts.ts';
import { removeHeaders } from './remove_headers/facts.ts';
import { requestBodyFindReplace } from './request_body_find_replace/facts.ts';
import { requestHeaders } from './request_headers/facts.ts';
import { responseBodyFindReplace } from './response_body_find_replace/facts.ts';
import { responseHeaders } from './response_headers/facts.ts';
import { saml } from '../auth/saml/facts.ts';
import { setVars } from './set_vars/facts.ts';
import { sseFindReplace } from './sse_find_replace/facts.ts';
import { tlsTermination } from './tls_termination/facts.ts';
import { trafficPolicy } from '../policy/facts.ts';
import { urlRewrite } from './url_rewrite/facts.ts';
import { userAgentFilter } from './user_agent_filter/facts.ts';
import { webhookVerification } from '../webhooks/facts.ts';
import { websocketTcpConverter } from './websocket_tcp_converter/facts.ts';
import type { ActionType } from './action_schemas.ts';
import type { ActionFacts, Filter, ModuleFacts } from './facts.ts';

/**
 * Every filter. The order of the modules is their execution order on a connection, in the request phase and
 * in the response phase: connection, access, authentication, policy, circuit breaker, request edits, backend;
 * then response edits.
 */
export const FILTERS: readonly Filter[] = [
  tlsTermination,
  mutualTls,
  ipRestriction,
  userAgentFilter,
  webhookVerification,
  oauth,
  oidc,
  saml,
  trafficPolicy,
  circuitBreaker,
  websocketTcpConverter,
  requestHeaders,
  backend,
  responseHeaders,
  compression,
  addHeaders,
  aiGateway,
  basicAuth,
  closeConnection,
  customResponse,
  deny,
  forwardInternal,
  httpRequest,
  jwtValidation,
  log,
  owaspCrsRequest,
  owaspCrsResponse,
  rateLimit,
  redirect,
  removeHeaders,
  requestBodyFindReplace,
  responseBodyFindReplace,
  setVars,
  sseFindReplace,
  urlRewrite,
];

/** Facts of every module by type, in their order of execution. */
export const MODULE_FACTS: ReadonlyMap<string, ModuleFacts<never>> = new Map(
  FILTERS.flatMap(({ module }) => (module === undefined ? [] : [[module.type, module] as const])),
);

/** Facts of every action by type, in alphabetical order. */
export const ACTION_FACTS: ReadonlyMap<string, ActionFacts<never>> = new Map(
  FILTERS.flatMap(({ action }) => (action === undefined ? [] : [[action.type, action] as const])).toSorted(
    ([one], [other]) => (one < other ? -1 : 1),
  ),
);

/** Current action types by former name. */
export const LEGACY_TYPES: ReadonlyMap<string, ActionType> = new Map(
  Array.from(ACTION_FACTS.values()).flatMap(({ type, legacyTypes = [] }) =>
    legacyTypes.map((legacy) => [legacy, type] as const),
  ),
);
