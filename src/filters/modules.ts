// Generated from table.ts by `npm run generate`; do not edit.
import type { Module } from '../engine/module.ts';
import { tlsTermination } from './tls_termination/module.ts';
import { mutualTls } from './mutual_tls/module.ts';
import { ipRestriction } from './ip_restriction/module.ts';
import { userAgentFilter } from './user_agent_filter/module.ts';
import { webhookVerification } from '../webhooks/module.ts';
import { oauth } from '../auth/oauth/module.ts';
import { oidc } from '../auth/oidc/module.ts';
import { saml } from '../auth/saml/module.ts';
import { trafficPolicy } from '../policy/module.ts';
import { circuitBreaker } from './circuit_breaker/module.ts';
import { websocketTcpConverter } from './websocket_tcp_converter/module.ts';
import { requestHeaders } from './request_headers/module.ts';
import { backend } from './backend/module.ts';
import { responseHeaders } from './response_headers/module.ts';
import { compression } from './compression/module.ts';

/** Every module, in the order of execution. */
export const MODULES = [
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
] as readonly Module<never>[];
