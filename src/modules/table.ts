import type { Module } from '../engine/module.ts';
import { backend } from './backend/index.ts';
import { circuitBreaker } from './circuit_breaker/index.ts';
import { compression } from './compression/index.ts';
import { ipRestriction } from './ip_restriction/index.ts';
import { notRun } from './not_run.ts';
import { requestHeaders } from './request_headers/index.ts';
import { responseHeaders } from './response_headers/index.ts';
import { trafficPolicy } from './traffic_policy/index.ts';
import { userAgentFilter } from './user_agent_filter/index.ts';
import { webhookVerification } from './webhook_verification/index.ts';

/**
 * Every module of an HTTPS route. The order of this table is the order of execution, in the request phase and,
 * for those with a response phase, in that one too: who may come in, who they are, what policy says, whether
 * the upstream is well, what it is told, which it is; then what the client is told, and how it is packed.
 */
export const MODULES = [
  ipRestriction,
  userAgentFilter,
  webhookVerification,
  notRun('oauth'),
  notRun('oidc'),
  notRun('saml'),
  trafficPolicy,
  circuitBreaker,
  notRun('websocket_tcp_converter'),
  requestHeaders,
  backend,
  responseHeaders,
  compression,
] as readonly Module<never>[];
