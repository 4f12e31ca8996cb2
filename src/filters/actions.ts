// Generated from table.ts by `npm run generate`; do not edit.
import type { ActionKind } from './action.ts';
import { addHeaders } from './add_headers/action.ts';
import { aiGateway } from './ai_gateway/action.ts';
import { basicAuth } from './basic_auth/action.ts';
import { circuitBreaker } from './circuit_breaker/action.ts';
import { closeConnection } from './close_connection/action.ts';
import { compressResponse } from './compression/action.ts';
import { customResponse } from './custom_response/action.ts';
import { deny } from './deny/action.ts';
import { forwardInternal } from './forward_internal/action.ts';
import { httpRequest } from './http_request/action.ts';
import { jwtValidation } from './jwt_validation/action.ts';
import { log } from './log/action.ts';
import { oauth } from '../auth/oauth/action.ts';
import { openidConnect } from '../auth/oidc/action.ts';
import { owaspCrsRequest } from './owasp_crs_request/action.ts';
import { owaspCrsResponse } from './owasp_crs_response/action.ts';
import { rateLimit } from './rate_limit/action.ts';
import { redirect } from './redirect/action.ts';
import { removeHeaders } from './remove_headers/action.ts';
import { requestBodyFindReplace } from './request_body_find_replace/action.ts';
import { responseBodyFindReplace } from './response_body_find_replace/action.ts';
import { restrictIps } from './ip_restriction/action.ts';
import { saml } from '../auth/saml/action.ts';
import { setVars } from './set_vars/action.ts';
import { sseFindReplace } from './sse_find_replace/action.ts';
import { terminateTls } from './tls_termination/action.ts';
import { urlRewrite } from './url_rewrite/action.ts';
import { verifyWebhook } from '../webhooks/action.ts';
import type { ActionType } from './action_schemas.ts';

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
