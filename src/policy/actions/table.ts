import type { ActionKind } from '../action.ts';
import { addHeaders } from './add_headers/index.ts';
import { aiGateway } from './ai_gateway/index.ts';
import { basicAuth } from './basic_auth/index.ts';
import { circuitBreaker } from './circuit_breaker/index.ts';
import { closeConnection } from './close_connection/index.ts';
import { compressResponse } from './compress_response/index.ts';
import { customResponse } from './custom_response/index.ts';
import { deny } from './deny/index.ts';
import { forwardInternal } from './forward_internal/index.ts';
import { httpRequest } from './http_request/index.ts';
import { jwtValidation } from './jwt_validation/index.ts';
import { log } from './log/index.ts';
import { oauth } from './oauth/index.ts';
import { openidConnect } from './openid_connect/index.ts';
import { owaspCrsRequest } from './owasp_crs_request/index.ts';
import { owaspCrsResponse } from './owasp_crs_response/index.ts';
import { rateLimit } from './rate_limit/index.ts';
import { redirect } from './redirect/index.ts';
import { removeHeaders } from './remove_headers/index.ts';
import { requestBodyFindReplace } from './request_body_find_replace/index.ts';
import { responseBodyFindReplace } from './response_body_find_replace/index.ts';
import { restrictIps } from './restrict_ips/index.ts';
import { saml } from './saml/index.ts';
import { setVars } from './set_vars/index.ts';
import { sseFindReplace } from './sse_find_replace/index.ts';
import { terminateTls } from './terminate_tls/index.ts';
import { urlRewrite } from './url_rewrite/index.ts';
import { verifyWebhook } from './verify_webhook/index.ts';
import type { ActionType } from './schemas.ts';

/** Every action that a policy can name, by its type. */
export const ACTIONS: { readonly [T in ActionType]: ActionKind<T> } = {
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
};
