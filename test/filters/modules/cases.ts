import { LOGIN_CASES } from './login_cases.ts';
import { IDP_METADATA } from '../../auth/saml/idp_metadata.ts';
import type { Answers } from '../../../src/engine/questions.ts';
import type { Case, Exchanged } from './case.ts';
import { POLICY_CASES } from './policy_cases.ts';
import { TLS_CASES } from './tls_cases.ts';

const answered = (status: number, headers: readonly string[] = []): Answers['forward'] => ({
  head: { status, headers },
  reused: false,
});
const refused: Answers['forward'] = { failure: 'connect', detail: 'refused' };
const cancelled: Answers['forward'] = { failure: 'cancelled', detail: '' };

const BREAKER = {
  rolling_window: 10,
  num_buckets: 10,
  volume_threshold: 2,
  error_threshold_percentage: 0.5,
  tripped_duration: 5,
};

const closed = (upstream: Answers['forward'], status: number): Exchanged => ({
  upstream,
  expect: { status, code: 'circuit_breaker.closed' },
});
const open: Exchanged = { expect: { status: 503, code: 'circuit_breaker.open', backend: null } };
const probe = (upstream: Answers['forward'], status: number): Exchanged => ({
  afterMs: 5_000,
  upstream,
  expect: { status, code: 'circuit_breaker.probe' },
});

const gzipAsked = { headers: { 'accept-encoding': 'gzip' } };

/** A request to open a WebSocket; the key and its answer are those of RFC 6455 §1.3. */
const opening = (more: Readonly<Record<string, string>> = {}): Pick<Exchanged, 'request'> => ({
  request: {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...more,
    },
  },
});
const noWebSocket = (code: string, status = 400): Exchanged['expect'] => ({
  status,
  code: `websocket_tcp_converter.${code}`,
  backend: null,
  responseHeaders: { 'service-error-code': 'ERR_SERVICE_3206' },
});
const accepting = (more: Readonly<Record<string, string | null>>): Exchanged['expect'] => ({
  status: 101,
  code: 'websocket_tcp_converter.converted',
  responseHeaders: { 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=', ...more },
});

/**
 * Cases by module type, as data. The suite runs them through the simulator and through the live proxy, and fails
 * when a declared reason is reached by none of them. The edge around a module is `EDGE` in edge_around.ts.
 */
export const CASES: Readonly<Record<string, readonly Case[]>> = {
  ...TLS_CASES,
  ip_restriction: [
    {
      name: 'needs an allow and no deny, whatever their order and size',
      config: { ip_policy_ids: ['office', 'guests'] },
      exchanges: [
        { clientIp: '203.0.113.9', expect: { status: 200, code: 'ip_restriction.allowed' } },
        { clientIp: '::ffff:203.0.113.9', expect: { status: 200, code: 'ip_restriction.allowed' } },
        { clientIp: '203.0.113.200', expect: { status: 403, code: 'ip_restriction.denied', backend: null } },
        { clientIp: '2001:db8::1', expect: { status: 200, code: 'ip_restriction.allowed' } },
        {
          clientIp: '198.51.100.1',
          expect: { status: 403, code: 'ip_restriction.not_allowed', backend: null },
        },
      ],
    },
    {
      name: 'looks at the peer, never at a header',
      config: { ip_policy_ids: ['office'] },
      exchanges: [
        {
          clientIp: '198.51.100.1',
          request: { headers: { 'x-forwarded-for': '203.0.113.9' } },
          expect: { status: 403, code: 'ip_restriction.not_allowed' },
        },
      ],
    },
    {
      name: 'an empty policy blocks all clients',
      config: { ip_policy_ids: ['nobody'] },
      exchanges: [{ expect: { status: 403, code: 'ip_restriction.not_allowed', backend: null } }],
    },
  ],
  user_agent_filter: [
    {
      name: 'what takes too many steps is blocked unseen',
      config: { allow: ['(?:ab.){900}'], deny: ['bot'] },
      exchanges: [
        {
          request: { headers: { 'user-agent': 'x'.repeat(4_000) } },
          expect: { status: 403, code: 'user_agent_filter.too_long', backend: null },
        },
        {
          request: { headers: { 'user-agent': 'x'.repeat(400) } },
          expect: { status: 200, code: 'user_agent_filter.not_denied' },
        },
      ],
    },
    {
      name: 'allow wins over deny; the first value counts',
      config: { allow: ['GoodBot'], deny: ['(?i)bot'] },
      exchanges: [
        {
          request: { headers: { 'user-agent': 'GoodBot/1' } },
          expect: { status: 200, code: 'user_agent_filter.allowed' },
        },
        {
          request: { headers: { 'user-agent': 'BadBOT/1' } },
          expect: {
            status: 403,
            code: 'user_agent_filter.denied',
            backend: null,
            responseHeaders: { 'service-error-code': 'ERR_SERVICE_3211' },
          },
        },
        {
          request: { headers: { 'user-agent': 'curl/8' } },
          expect: { status: 200, code: 'user_agent_filter.not_denied' },
        },
        { expect: { status: 403, code: 'user_agent_filter.missing', backend: null } },
        {
          request: { headers: { 'user-agent': ['curl/8', 'evilbot'] } },
          expect: { status: 200, code: 'user_agent_filter.not_denied' },
        },
      ],
    },
    {
      name: 'an allow pattern that takes the empty string lets a missing header in',
      config: { allow: ['^$'], deny: [] },
      exchanges: [{ expect: { status: 200, code: 'user_agent_filter.allowed' } }],
    },
  ],
  circuit_breaker: [
    {
      name: 'trips on the share of failures, probes once, closes on success',
      config: BREAKER,
      exchanges: [
        closed(answered(200), 200),
        closed(answered(500), 500),
        open,
        probe(answered(200), 200),
        closed(answered(404), 404),
        closed(answered(404), 404),
        closed(answered(404), 404),
      ],
    },
    {
      name: 'counts a failed dial, re-opens on a failed probe',
      config: BREAKER,
      exchanges: [
        closed(refused, 502),
        closed(refused, 502),
        open,
        probe(answered(500), 500),
        open,
        probe(answered(200), 200),
      ],
    },
    {
      name: 'a cancelled probe does not stick',
      config: BREAKER,
      exchanges: [
        closed(answered(500), 500),
        closed(answered(500), 500),
        probe(cancelled, 0),
        { ...probe(answered(200), 200), afterMs: 0 },
      ],
    },
  ],
  request_headers: [
    {
      name: 'removes, then adds; the upstream sees it',
      config: {
        remove: ['X-Secret', 'x-role'],
        add: { 'x-role': 'user', 'X-Edge': '1', host: 'inner.test' },
      },
      exchanges: [
        {
          request: { headers: { 'x-secret': 'a', 'X-ROLE': ['admin', 'root'], 'x-kept': 'k' } },
          expect: {
            status: 200,
            code: 'request_headers.edited',
            upstreamHeaders: {
              'x-secret': null,
              'x-role': 'user',
              'x-edge': '1',
              'x-kept': 'k',
              host: 'inner.test',
            },
          },
        },
      ],
    },
  ],
  response_headers: [
    {
      name: 'removes, then adds; the client sees it',
      config: { remove: ['server'], add: { 'x-edge': '1' } },
      exchanges: [
        {
          upstream: answered(200, ['Server', 'secret', 'x-kept', 'k']),
          expect: {
            status: 200,
            code: 'response_headers.edited',
            responseHeaders: { server: null, 'x-edge': '1', 'x-kept': 'k' },
          },
        },
      ],
    },
  ],
  compression: [
    {
      name: 'compresses what it may',
      config: {},
      exchanges: [
        {
          request: gzipAsked,
          upstream: answered(200, ['content-type', 'text/html', 'etag', '"a"', 'content-length', '5']),
          expect: {
            status: 200,
            code: 'compression.compressed',
            responseHeaders: {
              'content-encoding': 'gzip',
              vary: 'Accept-Encoding',
              etag: 'W/"a"',
              'content-length': null,
            },
          },
        },
        {
          upstream: answered(200),
          expect: {
            status: 200,
            code: 'compression.not_wanted',
            responseHeaders: { vary: 'Accept-Encoding' },
          },
        },
        { request: { ...gzipAsked, method: 'HEAD' }, expect: { status: 200, code: 'compression.no_body' } },
        { request: gzipAsked, upstream: answered(204), expect: { status: 204, code: 'compression.no_body' } },
        { request: gzipAsked, upstream: answered(206), expect: { status: 206, code: 'compression.partial' } },
        {
          request: gzipAsked,
          upstream: answered(200, ['content-encoding', 'br']),
          expect: {
            status: 200,
            code: 'compression.already_encoded',
            responseHeaders: { 'content-encoding': 'br' },
          },
        },
        {
          request: gzipAsked,
          upstream: answered(200, ['cache-control', 'no-transform']),
          expect: {
            status: 200,
            code: 'compression.no_transform',
            responseHeaders: { 'content-encoding': null },
          },
        },
      ],
    },
  ],
  backend: [
    {
      name: 'a static backend',
      config: { backend_id: 'app' },
      exchanges: [{ expect: { status: 200, code: 'backend.picked', backend: 'app' } }],
    },
    {
      name: 'a backend that answers by itself',
      config: { backend_id: 'sorry' },
      exchanges: [
        {
          expect: {
            status: 503,
            code: 'backend.picked',
            backend: 'sorry',
            responseHeaders: { 'x-sorry': 'yes' },
          },
        },
      ],
    },
    {
      name: 'weights share out the range of chance',
      config: { backend_id: 'split' },
      exchanges: [
        { random: 0, expect: { status: 200, code: 'backend.picked', backend: 'app' } },
        { random: 0.7499, expect: { status: 200, code: 'backend.picked', backend: 'app' } },
        { random: 0.75, expect: { status: 200, code: 'backend.picked', backend: 'next' } },
        { random: 0.9999, expect: { status: 200, code: 'backend.picked', backend: 'next' } },
      ],
    },
    {
      name: 'failover tries the next child when the dial fails, and only then',
      config: { backend_id: 'safe' },
      exchanges: [
        { upstream: refused, expect: { status: 503, code: 'backend.picked', backend: 'sorry' } },
        { upstream: answered(500), expect: { status: 500, code: 'backend.picked', backend: 'app' } },
        {
          upstream: { failure: 'timeout', detail: '' },
          expect: { status: 504, code: 'backend.picked', backend: 'app' },
        },
      ],
    },
    {
      name: 'all weights zero',
      config: { backend_id: 'drained' },
      exchanges: [{ expect: { status: 503, code: 'backend.no_weight', backend: null } }],
    },
    {
      name: 'no agent is online',
      config: { backend_id: 'agents' },
      exchanges: [{ expect: { status: 503, code: 'backend.offline', backend: null } }],
    },
  ],
  webhook_verification: [
    {
      name: 'needs the signature of its provider, over the bytes of the body',
      config: { provider: 'github', secret: "It's a Secret to Everybody" },
      exchanges: [
        { expect: { status: 403, code: 'webhook_verification.signature_missing', backend: null } },
        {
          request: { headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` } },
          expect: { status: 403, code: 'webhook_verification.signature_mismatch', backend: null },
        },
      ],
    },
  ],
  oauth: LOGIN_CASES.oauth,
  oidc: LOGIN_CASES.oidc,
  saml: [
    {
      name: 'redirects browsers to their identity provider, and answers programs with 401',
      config: { idp_metadata: IDP_METADATA },
      exchanges: [
        { expect: { status: 302, code: 'saml.login_started', backend: null } },
        {
          request: { headers: { accept: 'application/json' } },
          expect: { status: 401, code: 'saml.login_needed', backend: null },
        },
      ],
    },
  ],
  traffic_policy: POLICY_CASES,
  websocket_tcp_converter: [
    {
      name: 'takes requests to open a WebSocket, whatever the backend would say to HTTP',
      config: {},
      exchanges: [
        { ...opening(), expect: accepting({ 'sec-websocket-protocol': null }) },
        {
          ...opening({ 'sec-websocket-protocol': 'mqtt, binary' }),
          expect: accepting({ 'sec-websocket-protocol': 'binary' }),
        },
        {
          ...opening({ 'sec-websocket-protocol': 'mqtt' }),
          expect: accepting({ 'sec-websocket-protocol': 'mqtt' }),
        },
      ],
    },
    {
      name: 'refuses all others',
      config: {},
      exchanges: [
        { expect: noWebSocket('no_upgrade') },
        { ...opening({ upgrade: 'h2c' }), expect: noWebSocket('no_upgrade') },
        { ...opening({ connection: 'keep-alive' }), expect: noWebSocket('no_upgrade') },
        { ...opening({ 'content-length': '5' }), expect: noWebSocket('no_upgrade') },
        { ...opening({ 'transfer-encoding': 'chunked' }), expect: noWebSocket('no_upgrade') },
        { ...opening({ expect: '100-continue' }), expect: noWebSocket('no_upgrade') },
        { ...opening({ 'sec-websocket-key': 'short' }), expect: noWebSocket('bad_key') },
        { ...opening({ 'sec-websocket-version': '8' }), expect: noWebSocket('other_version', 426) },
      ],
    },
  ],
};
