import type { Chance } from './random_edges.ts';

/** Random edge files that combine what is rarely combined, and requests in unusual spellings. */

const quoted = (value: string): string => JSON.stringify(value);
const PATHS = ['/a', '/a/', '/a/b', '/admin', '/Admin', '/admin/', '/api/v1', '/api/v1/x', '/x;y', '/a%2Fb'];
const NAMES = [
  'x-team',
  'X-Team',
  'origin',
  'authorization',
  'host',
  'cookie',
  'user-agent',
  'content-type',
  'accept',
  'access-control-request-method',
  'x-forwarded-for',
];
const VALUES = ['', 'blue', 'BLUE', 'a b', 'a,b', '1'];
const PARAMETERS = ['q', 'Q', 'a.b', '', 'lane'];
const COOKIES = ['lane', 'Lane', 'sid'];

function text({ pick }: Chance): string {
  return pick([
    'req.url.path',
    'req.url.path',
    'req.url.raw_path',
    'req.url.query',
    'req.method',
    'req.host',
    'req.url.host',
    'req.url.authority',
    'req.user_agent',
    'req.content_type',
    'req.version',
    `req.headers[${quoted(pick(NAMES))}][${pick(['0', '0', '1'])}]`,
    `getReqHeader(${quoted(pick(NAMES))}).join(',')`,
    `getQueryParam(${quoted(pick(PARAMETERS))})[0]`,
    `getReqCookie(${quoted(pick(COOKIES))}).value`,
    `req.cookies[${quoted(pick(COOKIES))}][0].value`,
    'vars.lane',
  ]);
}

function made(chance: Chance): string {
  const { pick, real } = chance;
  const call = pick([
    'lower()',
    'upperAscii()',
    'trim()',
    "replace('a', 'bb')",
    'substring(1)',
    "split('/')[1]",
  ]);
  return real() < 0.3 ? `${text(chance)}.${call}` : text(chance);
}

const literal = ({ pick }: Chance): string =>
  quoted(pick([...PATHS, ...VALUES, 'GET', 'OPTIONS', 'a.test', 'x.b.test', 'curl/8', 'text/html', 'x=1']));

export function rareExpression(chance: Chance, depth = 2): string {
  const { pick, real } = chance;
  if (depth > 0 && real() < 0.4) {
    const [one, other] = [rareExpression(chance, depth - 1), rareExpression(chance, depth - 1)];
    return pick([
      `(${one}) && (${other})`,
      `(${one}) || (${other})`,
      `!(${one})`,
      `(${one}) ? (${other}) : true`,
      `cel.bind(t, ${made(chance)}, t.startsWith('a') || t == 'b')`,
    ]);
  }
  const patterns = ['^/a(/|$)', '(?i)^/ADMIN', 'b$', '^$', '[^a-z]', '^(GET|HEAD)$', '%', '(?s).+'];
  const ranges = ['10.0.0.0/8', '::ffff:10.0.0.0/104', '::/0', '0.0.0.0/0', '2001:db8::/32'];
  return pick([
    `${made(chance)} ${pick(['==', '!=', '<', '>='])} ${literal(chance)}`,
    `${made(chance)} in [${literal(chance)}, ${literal(chance)}]`,
    `${made(chance)}.${pick(['startsWith', 'endsWith', 'contains'])}(${literal(chance)})`,
    `${made(chance)}.matches(${quoted(pick(patterns))})`,
    `hasReqHeader(${quoted(pick(NAMES))})`,
    `hasQueryParam(${quoted(pick(PARAMETERS))})`,
    `hasReqCookie(${quoted(pick(COOKIES))})`,
    'has(req.content_length)',
    `getReqHeader(${quoted(pick(NAMES))}).${pick(['exists', 'all', 'exists_one'])}(v, v.startsWith('b'))`,
    `${literal(chance)} in req.url.query_params[${quoted(pick(PARAMETERS))}]`,
    `size(${made(chance)}) ${pick(['<', '>', '=='])} ${pick(['0', '1', '4'])}`,
    `inCidrRange(conn.client_ip, ${quoted(pick(ranges))})`,
    `conn.client_ip == ${quoted(pick(['10.0.0.1', '::ffff:10.0.0.1', '::1']))}`,
    `int(${made(chance)}) > 0`,
    'req.content_length >= 5',
    'vars.ok == true',
    "actions.service.restrict_ips.action == 'deny'",
    pick(['true', 'false']),
  ]);
}

const REWRITES = [
  { from: '/api/', to: '/v2/' },
  { from: '/v1/(.*)', to: '/v2/$1' },
  { from: '/a/', to: '/' },
  { from: 'q=1', to: 'q=2' },
  { from: '/admin', to: '/a' },
  { from: 'a.test', to: 'x.b.test' },
  { to: 'https://x.b.test/a?q=1' },
  { from: '/a(.*)$', to: '/b$1' },
];

function action({ pick, real }: Chance): { readonly type: string; readonly config: object } {
  const enforce = real() < 0.7;
  const onError = pick(['halt', 'continue']);
  const limit = { name: 'n', algorithm: 'sliding_window', capacity: 1000, rate: '60s' };
  const values = ['blue', '${req.url.path}', 'lane=beta', "${getReqHeader('x-team')[0]}", 'a.test'];
  const added = NAMES.filter((name) => name !== 'user-agent');
  return pick([
    { type: 'deny', config: { status_code: pick([403, 404]) } },
    { type: 'custom-response', config: { status_code: pick([200, 503]), headers: { 'x-r': '1' } } },
    { type: 'add-headers', config: { headers: { [pick(added)]: pick(values) } } },
    { type: 'remove-headers', config: { headers: [pick(added.filter((name) => name !== 'host'))] } },
    { type: 'url-rewrite', config: pick<object>(REWRITES) },
    { type: 'restrict-ips', config: { allow: pick([['10.0.0.0/8'], ['::ffff:10.0.0.0/104']]), enforce } },
    { type: 'set-vars', config: { vars: [{ lane: pick(['beta', '${req.url.path}']) }, { ok: enforce }] } },
    { type: 'redirect', config: pick<object>([{ from: '/a/', to: '/b/' }, { to: 'https://a.test/a' }]) },
    { type: 'basic-auth', config: { credentials: ['ann:password1'], enforce } },
    { type: 'rate-limit', config: { ...limit, bucket_key: ["req.headers['x-team'][0]"], enforce } },
    { type: 'http-request', config: { url: 'https://auth.test/x', on_error: onError } },
    { type: 'forward-internal', config: { url: 'https://in.internal', on_error: onError } },
    { type: 'oauth', config: { provider: 'google', allow_cors_preflight: enforce } },
    { type: 'verify-webhook', config: { provider: 'github', secret: 'a webhook secret', enforce } },
    { type: 'close-connection', config: {} },
  ]);
}

function rule(chance: Chance): object {
  const expressions = Array.from({ length: Math.floor(chance.real() * 2.5) }, () => rareExpression(chance));
  const actions = Array.from({ length: chance.real() < 0.8 ? 1 : 2 }, () => action(chance));
  return { expressions, actions };
}

function responseRule(chance: Chance): object {
  const { pick, real } = chance;
  const conditions = [rareExpression(chance), 'res.status_code == 200', "hasResHeader('x-r')"];
  return {
    expressions: real() < 0.7 ? [pick(conditions)] : [],
    actions: [
      pick([
        { type: 'add-headers', config: { headers: { 'x-out': pick(['1', '${res.status_code}']) } } },
        { type: 'custom-response', config: { status_code: 503, body: 'r' } },
        { type: 'restrict-ips', config: { allow: ['10.0.0.0/8'], enforce: real() < 0.7 } },
      ]),
    ],
  };
}

function policy(chance: Chance, most: number): object {
  const requests = Array.from({ length: Math.floor(chance.real() * most) }, () => rule(chance));
  const responses = Array.from({ length: Math.floor(chance.real() * 2) }, () => responseRule(chance));
  if (requests.length + responses.length === 0) return {};
  return {
    traffic_policy: { value: JSON.stringify({ on_http_request: requests, on_http_response: responses }) },
  };
}

function route(chance: Chance, match: string, type: string, most: number): object {
  const { pick, real } = chance;
  const agents = [{ allow: ['^curl/'], deny: ['(?i)bot'] }, { deny: ['^$'] }, { deny: ['bot'] }];
  return {
    match_type: type,
    match,
    ...(real() < 0.93 && { backend: { backend_id: pick(['app', 'ops', 'either', 'first']) } }),
    ...policy(chance, most),
    ...(real() < 0.15 && { ip_restriction: { ip_policy_ids: pick([['office'], ['office', 'mapped']]) } }),
    ...(real() < 0.15 && { user_agent_filter: pick<object>(agents) }),
    ...(real() < 0.1 && { request_headers: { add: { 'x-team': 'blue' } } }),
    ...(real() < 0.05 && { circuit_breaker: { volume_threshold: 50 } }),
  };
}

/** An edge file, which the check may refuse. */
export function rareEdge(chance: Chance): object {
  const { pick, real } = chance;
  const routes = [route(chance, '/', 'path_prefix', 4)];
  const matches = ['/a', '/a/', '/admin', '/api', 'x.b.test/a', 'x.b.test/', 'a.test/admin'];
  for (const match of matches.filter(() => real() < 0.2))
    routes.push(route(chance, match, pick(['path_prefix', 'exact_path']), 2));
  const allow = (cidr: string) => ({ cidr, action: 'allow' });
  const inner = {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: 'ops' },
    ...policy(chance, 1),
  };
  return {
    ip_policies: {
      office: { rules: [allow('10.0.0.0/8'), { cidr: '10.1.0.0/16', action: 'deny' }] },
      mapped: { rules: [allow('::ffff:192.0.2.0/120'), allow('2001:db8::/32')] },
    },
    backends: {
      app: { static: { address: 'localhost:3000' } },
      ops: { static: { address: 'localhost:3001' } },
      either: { weighted: { app: 1, ops: 1 } },
      first: { failover: ['ops', 'app'] },
    },
    edges: {
      https: {
        main: {
          hostports: ['a.test:443', '*.b.test:443'],
          routes,
          ...(real() < 0.15 && { tls_termination: { redirect_http: real() < 0.5 } }),
        },
        inner: { hostports: ['in.internal:443'], routes: [inner] },
      },
    },
  };
}

const SENT_PATHS = [
  ...PATHS,
  '/',
  '/%61',
  '/a/../admin',
  '//a',
  '/a//b',
  '/./a',
  '/ADMIN',
  '/adm%69n',
  '/admin%2f',
  '/a/b/',
  '/v1/',
  '',
  '/a%',
  '/%2e%2e/a',
];
const QUERIES = [
  'q=1',
  'q',
  '',
  'q=0&q=2',
  'q=/api/',
  'lane=/v1/x',
  'q=%31',
  'q=%zz',
  '%71=1',
  '=x',
  '/a/',
  '&&',
];
const SENT_COOKIES = ['lane=beta', 'lane=a; b=c', 'x', 'lane=a; lane=beta', 'lane="beta"', ' lane = b', ''];
const HOSTS = [
  'a.test',
  'a.test',
  'A.TEST',
  'a.test.',
  'a.test:8443',
  'x.b.test',
  'X.b.Test.',
  'b.test',
  'in.internal',
];
const ADDRESSES = [
  '10.0.0.1',
  '10.1.0.1',
  '11.0.0.0',
  '192.0.2.7',
  '::1',
  '2001:db8::1',
  '::ffff:10.0.0.1',
  'fe80::1%e',
];

export function rareRequest({ pick, real }: Chance) {
  const headers: [string, string][] = [];
  const sent = NAMES.filter((name) => name !== 'host' && name !== 'cookie');
  for (let left = Math.floor(real() * 4); left > 0; left--) {
    const name = pick(sent);
    const value = pick([...VALUES, 'curl/8', 'bot', 'Text/HTML; x=1', 'Basic YW5uOnBhc3N3b3JkMQ==', 'é']);
    headers.push([pick([name, name.toUpperCase()]), value]);
  }
  if (real() < 0.2) headers.push(['origin', 'https://x.test'], ['access-control-request-method', 'GET']);
  if (real() < 0.2) headers.push(['content-length', pick(['0', '7', '0100', 'x', '-1'])]);
  for (let left = pick([0, 0, 1, 1, 2]); left > 0; left--) headers.push(['cookie', pick(SENT_COOKIES)]);
  const query = real() < 0.45 ? `?${pick(QUERIES)}` : '';
  return {
    method: pick(['GET', 'GET', 'POST', 'OPTIONS', 'HEAD', 'get', 'PUT', 'TRACE']),
    url: `${pick(['https', 'https', 'http'])}://${pick(HOSTS)}${pick(SENT_PATHS)}${query}`,
    headers,
    clientIp: pick(ADDRESSES),
  };
}
