/** Random edge files with rules of many kinds, and requests near what they distinguish. */

export interface Chance {
  readonly real: () => number;
  readonly pick: <T>(list: readonly T[]) => T;
}

export function chanceOf(real: () => number): Chance {
  return { real, pick: (list) => list[Math.floor(real() * list.length)]! };
}

const PATHS = [
  '/',
  '/a',
  '/a/',
  '/a/b',
  '/admin',
  '/admin/x',
  '/Admin',
  '/api/v1',
  '/api/v2/x',
  '/%61dmin',
  '/a%2Fb',
  '/x;y',
];
const AGENTS = ['', 'curl/8', 'Bingbot', 'bot', 'mozilla'];
const ADDRESSES = ['10.0.0.1', '10.255.255.255', '11.0.0.0', '192.0.2.7', '::1', '2001:db8::1'];
const METHODS = ['GET', 'POST', 'OPTIONS', 'DELETE'];

function expression({ pick, real }: Chance, depth = 2): string {
  if (depth > 0 && real() < 0.4) {
    const [one, other] = [expression({ pick, real }, depth - 1), expression({ pick, real }, depth - 1)];
    return pick([
      `(${one}) && (${other})`,
      `(${one}) || (${other})`,
      `!(${one})`,
      `(${one}) ? (${other}) : false`,
    ]);
  }
  return pick([
    `req.url.path.startsWith('${pick(['/a', '/admin', '/api', '/api/v1'])}')`,
    `req.url.path == '${pick(['/a', '/admin', '/a/b'])}'`,
    `req.url.path in ['/a', '/admin/x']`,
    `req.url.path.matches('${pick(['^/api/v[0-9]+', '(?i)admin', 'b$', '^/a(?:/|$)'])}')`,
    `req.url.path.endsWith('x')`,
    `size(req.url.path) ${pick(['<', '<=', '>', '>='])} 6`,
    `req.url.raw_path ${pick(['==', '!='])} '${pick(['/a', '/%61dmin', '/admin'])}'`,
    `req.url.raw_path.startsWith('/a')`,
    `req.method == '${pick(METHODS)}'`,
    `req.method in ['GET', 'POST']`,
    `inCidrRange(conn.client_ip, '10.0.0.0/8')`,
    `inCidrRanges(conn.client_ip, ['10.0.0.0/9', '2001:db8::/32'])`,
    `conn.client_ip == '192.0.2.7'`,
    `req.user_agent.contains('${pick(['bot', 'curl'])}')`,
    `req.user_agent.lowerAscii().contains('bing')`,
    `req.headers['x-team'][0] == '${pick(['blue', 'red'])}'`,
    `'x-team' in req.headers`,
    `hasReqHeader('X-Team') && getReqHeader('x-team')[0].startsWith('b')`,
    `req.url.query_params['q'][0] == '1'`,
    `hasQueryParam('q')`,
    `getReqCookie('lane') == 'beta'`,
    `size(req.headers) > 3`,
    `req.url.query.contains('q')`,
    `getReqHeader('x-team').${pick(['exists', 'all', 'exists_one'])}(v, v.${pick(["startsWith('b')", "matches('^r')", "lower() == 'red'"])})`,
    `'${pick(['blue', 'red'])}' in getReqHeader('x-team')`,
    `size(getReqHeader('x-team')) > ${pick([0, 1])}`,
    `req.url.path.split('/')[${pick([1, 2])}] == '${pick(['a', 'x', 'api'])}'`,
    `req.url.path.replace('/', '').substring(0, 1) == 'a'`,
    `getQueryParam('q').exists(v, int(v) > ${pick([0, 1])})`,
    `req.content_length ${pick(['<', '>='])} ${pick([5, 100])}`,
    `has(req.content_length)`,
    `req.cookies['lane'].exists(c, c.value == 'beta')`,
    `req.content_type == 'text/html'`,
    `timestamp(time.now) ${pick(['<', '>'])} timestamp('202${pick([5, 7])}-01-01T00:00:00Z')`,
    `conn.client_port < ${pick([0, 1, 1024])}`,
    `vars.lane == 'beta'`,
    `has(actions.service.${pick(['add_headers', 'remove_headers', 'log', 'restrict_ips'])})`,
    `actions.service.log.metadata.lane == 'x'`,
    pick(['true', 'false']),
  ]);
}

function action({ pick }: Chance): object {
  return pick<() => object>([
    () => ({ type: 'deny', config: { status_code: pick([403, 404]) } }),
    () => ({ type: 'custom-response', config: { status_code: pick([200, 503]), body: pick(['a', 'b']) } }),
    () => ({
      type: 'add-headers',
      config: { headers: { [pick(['x-team', 'x-edge'])]: pick(['blue', 'red']) } },
    }),
    () => ({ type: 'remove-headers', config: { headers: [pick(['x-team', 'x-edge'])] } }),
    () => ({ type: 'url-rewrite', config: { from: '/api/', to: '/internal/' } }),
    () => ({
      type: 'restrict-ips',
      config: { allow: [pick(['10.0.0.0/8', '0.0.0.0/0'])], deny: pick([[], ['10.0.0.0/24']]) },
    }),
    () => ({ type: 'log', config: { metadata: { lane: 'x' } } }),
    () => ({ type: 'set-vars', config: { vars: [{ lane: 'beta' }] } }),
    () => ({ type: 'redirect', config: { from: '/a/', to: '/b/' } }),
  ])();
}

export interface RandomRule {
  readonly expressions: readonly string[];
  readonly actions: readonly object[];
}

export function randomRule(chance: Chance): RandomRule {
  const expressions = Array.from({ length: Math.floor(chance.real() * 3) }, () => expression(chance));
  return { expressions, actions: [action(chance)] };
}

export function randomResponseRule(chance: Chance): RandomRule {
  const expressions = [chance.pick([expression(chance), 'res.status_code == 200', 'res.status_code >= 400'])];
  const own = chance.pick<() => object>([
    () => ({ type: 'add-headers', config: { headers: { 'x-out': chance.pick(['1', '2']) } } }),
    () => ({ type: 'custom-response', config: { status_code: chance.pick([200, 503]), body: 'r' } }),
    () => ({ type: 'restrict-ips', config: { allow: ['10.0.0.0/8'] } }),
  ]);
  return { expressions, actions: [own()] };
}

/** An edge whose route `/` has these rules. */
export function randomEdge(rules: readonly RandomRule[], responses: readonly RandomRule[] = []) {
  return {
    ip_policies: {
      office: {
        rules: [
          { cidr: '10.0.0.0/8', action: 'allow' },
          { cidr: '10.1.0.0/16', action: 'deny' },
        ],
      },
    },
    backends: {
      app: { static: { address: 'localhost:3000' } },
      ops: { static: { address: 'localhost:3001' } },
    },
    edges: {
      https: {
        main: {
          hostports: ['a.test:443', '*.b.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              backend: { backend_id: 'app' },
              ...(rules.length + responses.length > 0 && {
                traffic_policy: {
                  value: JSON.stringify({ on_http_request: rules, on_http_response: responses }),
                },
              }),
            },
            {
              match_type: 'path_prefix',
              match: '/admin',
              backend: { backend_id: 'ops' },
              ip_restriction: { ip_policy_ids: ['office'] },
            },
            {
              match_type: 'exact_path',
              match: 'x.b.test/a',
              backend: { backend_id: 'ops' },
              user_agent_filter: { allow: ['^curl/'], deny: ['(?i)bot'] },
            },
          ],
        },
      },
    },
  };
}

export function randomRequest({ pick, real }: Chance) {
  const headers: [string, string][] = [];
  if (real() < 0.7) headers.push(['user-agent', pick(AGENTS)]);
  for (let left = real() < 0.4 ? 1 + Math.floor(real() * 3) : 0; left > 0; left--)
    headers.push(['x-team', pick(['blue', 'red', '', 'RED'])]);
  if (real() < 0.3) headers.push(['content-length', pick(['0', '7', '100', '0100', 'x'])]);
  if (real() < 0.2) headers.push(['content-type', pick(['text/html', 'Text/HTML; charset=utf-8', ''])]);
  if (real() < 0.3) headers.push(['cookie', pick(['lane=beta', 'lane=a; b=c', 'x', 'lane=a; lane=beta'])]);
  const query = real() < 0.3 ? pick(['?q=1', '?q', '?x=2', '?', '?q=0&q=2']) : '';
  return {
    method: pick(METHODS),
    url: `https://${pick(['a.test', 'x.b.test', 'y.b.test', 'z.test'])}${pick(PATHS)}${query}`,
    headers,
    clientIp: pick(ADDRESSES),
  };
}
