import type { Module } from '../engine/module.ts';
import { backend } from './backend/index.ts';
import { circuitBreaker } from './circuit_breaker/index.ts';
import { compression } from './compression/index.ts';
import { ipRestriction } from './ip_restriction/index.ts';
import { mutualTls } from './mutual_tls/index.ts';
import { oauth } from './oauth/index.ts';
import { oidc } from './oidc/index.ts';
import { requestHeaders } from './request_headers/index.ts';
import { responseHeaders } from './response_headers/index.ts';
import { saml } from './saml/index.ts';
import { tlsTermination } from './tls_termination/index.ts';
import { trafficPolicy } from './traffic_policy/index.ts';
import { userAgentFilter } from './user_agent_filter/index.ts';
import { webhookVerification } from './webhook_verification/index.ts';
import { websocketTcpConverter } from './websocket_tcp_converter/index.ts';

/**
 * Every module of an HTTPS route, the first two being those of its edge; TLS and TCP edges have some of them. The
 * order of this table is the order of execution, on a connection, in the request phase and, for those with a
 * response phase, in that one too: how the connection came, who may come in, who they are, what policy says, whether
 * the upstream is well, what it is told, which it is; then what the client is told, and how it is packed.
 */
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
