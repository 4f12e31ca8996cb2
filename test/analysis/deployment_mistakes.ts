import { action, deny, limit, logged, rule } from './edge_parts.ts';
import type { PlantedMistake } from './planted_mistakes.ts';

const basic = action('basic-auth', { credentials: ["${secrets.get('v','u')}:${secrets.get('v','p')}"] });
const setLane = rule([], action('set-vars', { vars: [{ lane: 'x' }] }));
const withField = (name: string, value: string, more: object = {}) => [
  rule([], action('add-headers', { headers: { [name]: value, ...more } })),
];
const origin = 'access-control-allow-origin';
const credentials = { [origin]: 'https://a.test', 'access-control-allow-credentials': 'true' };

const CONDITIONS: readonly (readonly [name: string, expression: string, code: string, at?: string])[] = [
  ['a range as the start of a text', "!conn.client_ip.startsWith('192.168.1')", 'address_as_text'],
  ['a range as a part of a text', "conn.client_ip.contains('10.')", 'address_as_text'],
  ['a range as an open pattern', "conn.client_ip.matches('10[.]0[.]')", 'address_as_text'],
  ['a range as a pattern with bare dots', "conn.client_ip.matches('^10.0.0.1$')", 'address_as_text'],
  ['a whole query', "req.url.query == 'debug=1'", 'query_bypass', ''],
  ['a part of a query', "req.url.query.contains('admin=true')", 'query_bypass', ''],
  [
    'a window over midnight',
    'timestamp(time.now).getHours() >= 18 && timestamp(time.now).getHours() < 8',
    'dead_rule',
    '',
  ],
  ['the hour 24', 'timestamp(time.now).getHours() == 24', 'dead_rule', ''],
  ['Sunday as 7', 'timestamp(time.now).getDayOfWeek() == 7', 'dead_rule', ''],
  ['December as 12', "timestamp(time.now).getMonth('Europe/Berlin') == 12", 'dead_rule', ''],
  [
    'no Saturday or no Sunday',
    'timestamp(time.now).getDayOfWeek() != 0 || timestamp(time.now).getDayOfWeek() != 6',
    'always_true',
  ],
  ['a hundred numbers below 100', 'rand.int(0, 99) < 100', 'always_true'],
  ['a number below the least', 'rand.int(1, 100) < 1', 'dead_rule', ''],
  ['a variable that another rule sets later', "has(vars.lane) && vars.lane == 'x'", 'dead_rule', ''],
  [
    'another name of a country',
    "has(conn.geo.country_code) && conn.geo.country_code == 'UK'",
    'unknown_country',
  ],
  [
    'a country in lower case',
    "has(conn.geo.country_code) && conn.geo.country_code in ['de']",
    'unknown_country',
  ],
  ['a method in lower case in a pattern', "req.method.matches('^(get|GET)$')", 'never_true'],
  ['a glob in the middle of a pattern', "req.url.path.matches('^/admin/*.php$')", 'literal_wildcard'],
  ['an origin with a slash', "!getReqHeader('origin').all(o, o == 'https://a.test/')", 'not_an_origin'],
  ['an origin without a scheme', "!getReqHeader('origin').all(o, o in ['a.test'])", 'not_an_origin'],
  [
    'an open pattern for a certificate',
    "!conn.tls.client.subject.common_name.matches('admin')",
    'unanchored_pattern',
  ],
];

const RESPONSES: readonly (readonly [name: string, responses: readonly object[], code: string])[] = [
  ['two origins', withField(origin, 'https://a.test, https://b.test'), 'refused_cors'],
  ['an allowed origin with a slash', withField(origin, 'https://a.test/'), 'refused_cors'],
  ['an allowed origin as a glob', withField(origin, 'https://*.a.test'), 'refused_cors'],
  ['an allowed origin without a scheme', withField(origin, 'a.test'), 'refused_cors'],
  [
    'all header fields with credentials',
    withField('access-control-allow-headers', '*', credentials),
    'refused_cors',
  ],
  [
    'all methods with credentials',
    withField('access-control-allow-methods', '*', credentials),
    'refused_cors',
  ],
  [
    'credentials in upper case',
    withField('access-control-allow-credentials', 'True', { [origin]: 'https://a.test' }),
    'refused_cors',
  ],
  ['an attribute with a typo', withField('set-cookie', 'sid=1; SameSite=Nonee; Secure'), 'ignored_value'],
  ['a partitioned cookie', withField('set-cookie', 'sid=1; Partitioned'), 'dropped_cookie'],
  ['HSTS with a colon', withField('strict-transport-security', 'max-age: 31536000'), 'ignored_value'],
  ['HSTS without a name', withField('strict-transport-security', '31536000'), 'ignored_value'],
  ['frames for all', withField('x-frame-options', 'ALLOWALL'), 'ignored_value'],
  ['sniffing with a dash', withField('x-content-type-options', 'no-sniff'), 'ignored_value'],
];

/** Mistakes of people who deploy edges: times, countries, addresses as texts, browsers, orders of actions. */
export const DEPLOYMENT_MISTAKES: readonly PlantedMistake[] = [
  ...CONDITIONS.map(([name, expression, code, at = '/expressions/0']) => ({
    name,
    rules: [deny(expression), setLane],
    code: `analysis.${code}`,
    at: `on_http_request/0${at}`,
  })),
  ...RESPONSES.map(([name, responses, code]) => ({
    name,
    responses,
    code: `analysis.${code}`,
    at: 'actions/0/config',
  })),
  {
    name: 'a variable with a typo',
    rules: [setLane, deny("has(vars.lnae) && vars.lnae == 'x'")],
    code: 'analysis.dead_rule',
    at: 'on_http_request/1',
  },
  {
    name: 'a status that responses do not have',
    responses: [rule(['res.status_code >= 600'], action('add-headers', { headers: { 'x-a': '1' } }))],
    code: 'analysis.dead_rule',
    at: 'on_http_response/0',
  },
  {
    name: 'not this status or not that one',
    responses: [
      rule(
        ['res.status_code != 200 || res.status_code != 204'],
        action('add-headers', { headers: { 'x-a': '1' } }),
      ),
    ],
    code: 'analysis.always_true',
    at: 'expressions/0',
  },
  {
    name: 'a status for a redirect without its target',
    rules: [rule(["req.url.path == '/x'"], action('custom-response', { status_code: 301 }))],
    code: 'analysis.broken_redirect',
    at: 'actions/0/config',
  },
  {
    name: 'a scheme that is part of the other',
    rules: [rule([], action('redirect', { from: 'http', to: 'https' }))],
    code: 'analysis.broken_redirect',
    at: 'config/to',
  },
  {
    name: 'a redirect to a host without its scheme',
    rules: [rule(["req.url.path == '/x'"], action('redirect', { to: 'www.new.test/y' }))],
    code: 'analysis.broken_redirect',
    at: 'config/to',
  },
  {
    name: 'credentials that are removed before they are asked for',
    rules: [rule([], action('remove-headers', { headers: ['Authorization'] })), rule([], basic)],
    code: 'analysis.removed_before',
    at: '1/actions/0',
  },
  {
    name: 'a limit by user agent',
    rules: [rule([], action('rate-limit', limit('req.user_agent')))],
    code: 'analysis.forged_field',
    at: 'actions/0/config',
  },
  {
    name: 'a limit by query',
    rules: [rule([], action('rate-limit', limit('req.url.query')))],
    code: 'analysis.forged_field',
    at: 'actions/0/config',
  },
  {
    name: 'credentials in the log',
    rules: [rule([], action('log', { metadata: { who: "${getReqHeader('authorization').join(',')}" } }))],
    code: 'analysis.logs_secret',
    at: 'actions/0/config',
  },
];

/** The same things done well: nothing is found. */
export const DEPLOYED_WELL: readonly Omit<PlantedMistake, 'code' | 'at'>[] = [
  { name: 'whole numbers of an address', rules: [deny("conn.client_ip.startsWith('2001:db8:')")] },
  { name: 'a pattern of an address', rules: [deny("conn.client_ip.matches('^10[.]0[.][0-9]+[.]1$')")] },
  { name: 'a parameter', rules: [deny("hasQueryParam('debug')")] },
  {
    name: 'nights',
    rules: [logged('timestamp(time.now).getHours() >= 18 || timestamp(time.now).getHours() < 8')],
  },
  { name: 'some of ten', rules: [logged('rand.int(1, 10) <= 3')] },
  {
    name: 'countries by code',
    rules: [deny("has(conn.geo.country_code) && conn.geo.country_code in ['GB', 'FR', 'XK']")],
  },
  {
    name: 'countries of the facts',
    rules: [deny("has(conn.geo.country_code) && conn.geo.country_code == 'QQ'")],
    more: {
      address_databases: ['city.mmdb'],
      facts: [{ cidr: '192.0.2.0/24', geo: { location: { country_code: 'QQ' } } }],
    },
  },
  {
    name: 'variables that may be set',
    rules: [
      rule(["req.url.path.startsWith('/beta')"], action('set-vars', { vars: [{ lane: 'beta' }] })),
      logged("has(vars.lane) && vars.lane == 'beta'"),
    ],
  },
  {
    name: 'fields that browsers understand',
    responses: [
      ...withField('strict-transport-security', 'max-age=63072000; includeSubDomains; preload', {
        'x-frame-options': 'SAMEORIGIN',
        'x-content-type-options': 'nosniff',
        'set-cookie': 'sid=1; Secure; SameSite=Lax; Partitioned',
      }),
      ...withField(origin, 'https://a.test:8443', { 'access-control-allow-headers': '*' }),
    ],
  },
  {
    name: 'errors of the upstream',
    responses: [rule(['res.status_code >= 500'], action('add-headers', { headers: { 'x-error': 'yes' } }))],
  },
  {
    name: 'a response with its target',
    rules: [
      rule(
        ["req.url.path == '/x'"],
        action('custom-response', { status_code: 302, headers: { Location: 'https://b.test/' } }),
      ),
    ],
  },
  {
    name: 'a redirect to a path',
    rules: [rule(["req.url.path == '/x'"], action('redirect', { to: '/y.html' }))],
  },
  {
    name: 'credentials that are removed after they were asked for',
    rules: [rule([], basic), rule([], action('remove-headers', { headers: ['authorization'] }))],
  },
  {
    name: 'a limit by client and path',
    rules: [rule([], action('rate-limit', limit('conn.client_ip', 'req.url.path')))],
  },
  { name: 'a log of what is there', rules: [logged("hasReqHeader('authorization')")] },
];
