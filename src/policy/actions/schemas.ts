import type * as z from 'zod';
import { addHeaders } from './add_headers/schema.ts';
import { aiGateway } from './ai_gateway/schema.ts';
import { basicAuth } from './basic_auth/schema.ts';
import { circuitBreaker } from './circuit_breaker/schema.ts';
import { closeConnection } from './close_connection/schema.ts';
import { compressResponse } from './compress_response/schema.ts';
import { customResponse } from './custom_response/schema.ts';
import { deny } from './deny/schema.ts';
import { forwardInternal } from './forward_internal/schema.ts';
import { httpRequest } from './http_request/schema.ts';
import { jwtValidation } from './jwt_validation/schema.ts';
import { log } from './log/schema.ts';
import { oauth } from './oauth/schema.ts';
import { openidConnect } from './openid_connect/schema.ts';
import { owaspCrsRequest } from './owasp_crs_request/schema.ts';
import { owaspCrsResponse } from './owasp_crs_response/schema.ts';
import { rateLimit } from './rate_limit/schema.ts';
import { redirect } from './redirect/schema.ts';
import { removeHeaders } from './remove_headers/schema.ts';
import { requestBodyFindReplace } from './request_body_find_replace/schema.ts';
import { responseBodyFindReplace } from './response_body_find_replace/schema.ts';
import { restrictIps } from './restrict_ips/schema.ts';
import { saml } from './saml/schema.ts';
import { setVars } from './set_vars/schema.ts';
import { sseFindReplace } from './sse_find_replace/schema.ts';
import { terminateTls } from './terminate_tls/schema.ts';
import { urlRewrite } from './url_rewrite/schema.ts';
import { verifyWebhook } from './verify_webhook/schema.ts';

/**
 * The schema of each action's `config`, by the action's type as written in documents. Nothing that runs imports
 * this file (loading zod takes longer than checking a policy may): types come from here at compile time, the
 * JSON Schema that the checker reads when it is generated.
 */
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

/** The type of an action as written in documents. */
export type ActionType = keyof typeof ACTION_SCHEMAS;

/** What an action's `config` is after it was read: aliases resolved, defaults filled in. */
export type ActionConfig<T extends ActionType> = z.output<(typeof ACTION_SCHEMAS)[T]>;
