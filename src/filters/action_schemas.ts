// Generated from table.ts by `npm run generate`; do not edit.
import type * as z from 'zod';
import { addHeaders } from './add_headers/action_schema.ts';
import { aiGateway } from './ai_gateway/action_schema.ts';
import { basicAuth } from './basic_auth/action_schema.ts';
import { circuitBreaker } from './circuit_breaker/action_schema.ts';
import { closeConnection } from './close_connection/action_schema.ts';
import { compressResponse } from './compression/action_schema.ts';
import { customResponse } from './custom_response/action_schema.ts';
import { deny } from './deny/action_schema.ts';
import { forwardInternal } from './forward_internal/action_schema.ts';
import { httpRequest } from './http_request/action_schema.ts';
import { jwtValidation } from './jwt_validation/action_schema.ts';
import { log } from './log/action_schema.ts';
import { oauth } from '../auth/oauth/action_schema.ts';
import { openidConnect } from '../auth/oidc/action_schema.ts';
import { owaspCrsRequest } from './owasp_crs_request/action_schema.ts';
import { owaspCrsResponse } from './owasp_crs_response/action_schema.ts';
import { rateLimit } from './rate_limit/action_schema.ts';
import { redirect } from './redirect/action_schema.ts';
import { removeHeaders } from './remove_headers/action_schema.ts';
import { requestBodyFindReplace } from './request_body_find_replace/action_schema.ts';
import { responseBodyFindReplace } from './response_body_find_replace/action_schema.ts';
import { restrictIps } from './ip_restriction/action_schema.ts';
import { saml } from '../auth/saml/action_schema.ts';
import { setVars } from './set_vars/action_schema.ts';
import { sseFindReplace } from './sse_find_replace/action_schema.ts';
import { terminateTls } from './tls_termination/action_schema.ts';
import { urlRewrite } from './url_rewrite/action_schema.ts';
import { verifyWebhook } from '../webhooks/action_schema.ts';

/** The schema of each action's `config`, by type. */
export const ACTION_SCHEMAS = {
  'add-headers': addHeaders,
  'ai-gateway': aiGateway,
  'basic-auth': basicAuth,
  'circuit-breaker': circuitBreaker,
  'close-connection': closeConnection,
  'compress-response': compressResponse,
  'custom-response': customResponse,
  deny,
  'forward-internal': forwardInternal,
  'http-request': httpRequest,
  'jwt-validation': jwtValidation,
  log,
  oauth,
  'openid-connect': openidConnect,
  'owasp-crs-request': owaspCrsRequest,
  'owasp-crs-response': owaspCrsResponse,
  'rate-limit': rateLimit,
  redirect,
  'remove-headers': removeHeaders,
  'request-body-find-replace': requestBodyFindReplace,
  'response-body-find-replace': responseBodyFindReplace,
  'restrict-ips': restrictIps,
  saml,
  'set-vars': setVars,
  'sse-find-replace': sseFindReplace,
  'terminate-tls': terminateTls,
  'url-rewrite': urlRewrite,
  'verify-webhook': verifyWebhook,
} as const;

/** The type of an action as in documents. */
export type ActionType = keyof typeof ACTION_SCHEMAS;

/** An action's `config` after reading: aliases resolved, defaults filled in. */
export type ActionConfig<T extends ActionType> = z.output<(typeof ACTION_SCHEMAS)[T]>;
