import { create } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';

import {
  declareScope,
  extendTable,
  headerFields,
  headerMap,
  INT,
  list,
  STANDARD,
  STRING,
  TIMESTAMP,
  variable,
} from '../src/cel/index.ts';
import type { Scope, Value } from '../src/cel/index.ts';
import { Timestamp } from '../src/cel/values.ts';
import { IP, IpValue } from '../src/policy/env/addresses.ts';
import { ADDRESS_FUNCTIONS } from '../src/policy/env/functions/addresses.ts';
import { parseAddress, v4FromNumber } from '../src/net/address.ts';
import { isCidrProblem, parseCidr } from '../src/net/cidr.ts';
import type { Cidr } from '../src/net/cidr.ts';
import { prefixSet } from '../src/net/prefix_set.ts';

/** A request as seen by the rules. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly userAgent: string;
  readonly contentLength: number;
  readonly cookies: readonly string[];
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly clientIp: IpValue;
  readonly country: string;
  readonly start: Timestamp;
}

export const SCOPE: Scope<Request> = declareScope<Request>({
  name: 'bench',
  functions: extendTable(STANDARD, ADDRESS_FUNCTIONS),
  variables: [
    variable('req.method', STRING, 'Method.', { read: (request) => request.method }),
    variable('req.path', STRING, 'Path.', { read: (request) => request.path }),
    variable('req.host', STRING, 'Host.', { read: (request) => request.host }),
    variable('req.user_agent', STRING, 'User agent.', { read: (request) => request.userAgent }),
    variable('req.content_length', INT, 'Body size.', { read: (request) => request.contentLength }),
    variable('req.cookies', list(STRING), 'Cookies.', { read: (request) => request.cookies }),
    variable('req.headers', headerMap(), 'Headers.', { read: (request) => request.headers }),
    variable('conn.client_ip', IP, 'Client.', { read: (request) => request.clientIp }),
    variable('conn.country', STRING, 'Country.', { read: (request) => request.country }),
    variable('conn.start', TIMESTAMP, 'Start.', { read: (request) => request.start }),
  ],
});

export interface Rule {
  readonly name: string;
  readonly source: string;
  /** The equivalent for ours: the peers have no templates and concatenate the text. */
  readonly template?: string;
  /** The same decision in plain code. */
  readonly byHand: (request: Request) => unknown;
  /** For the peers: whether an address, given as text, is in the rule's ranges. */
  readonly inRanges?: (ip: unknown) => boolean;
}

function ranges(count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, index) => `${10 + (index % 80)}.${index % 251}.${(index * 7) % 256}.0/24`,
  );
}

function rangeRule(count: number): Rule {
  const texts = ranges(count);
  const set = prefixSet(
    texts.map((text) => parseCidr(text)).filter((cidr): cidr is Cidr => !isCidrProblem(cidr)),
  );
  return {
    name: `address in ${count.toLocaleString('en')} ranges`,
    source: `inCidrRanges(conn.client_ip, [${texts.map((text) => `'${text}'`).join(', ')}])`,
    byHand: ({ clientIp }) => clientIp.address !== null && set.find(clientIp.address) >= 0,
    inRanges: (ip) => {
      const address = parseAddress(ip as string);
      return address !== null && set.find(address) >= 0;
    },
  };
}

const BOTS = '[Bb]ot|[Cc]rawler|[Ss]pider|curl/[0-9]';
const bots = new RegExp(BOTS);
const METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const COUNTRIES = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV NL'.split(' ');
const countries = new Set(COUNTRIES);
const FROM = "timestamp('2026-01-01T00:00:00Z')";
const fromSeconds = 1_767_225_600;

/** Typical rules of edge policies; the first is the most typical. */
export const RULES: readonly Rule[] = [
  {
    name: 'method, path prefix, header absent',
    source: "req.method == 'POST' && req.path.startsWith('/api/') && !('x-internal' in req.headers)",
    byHand: ({ method, path, headers }) =>
      method === 'POST' && path.startsWith('/api/') && headers['x-internal'] === undefined,
  },
  {
    name: 'exists over cookies',
    source: "req.cookies.exists(c, c.startsWith('beta='))",
    byHand: ({ cookies }) => cookies.some((cookie) => cookie.startsWith('beta=')),
  },
  {
    name: 'pattern on user agent',
    source: `req.user_agent.matches('${BOTS}')`,
    byHand: ({ userAgent }) => bots.test(userAgent),
  },
  rangeRule(10),
  rangeRule(1_000),
  {
    name: 'method in list, country in list',
    source: `req.method in ['POST', 'PUT', 'PATCH', 'DELETE'] && conn.country in [${COUNTRIES.map((one) => `'${one}'`).join(', ')}]`,
    byHand: ({ method, country }) => METHODS.has(method) && countries.has(country),
  },
  {
    name: 'header present and prefix',
    source: "'x-api-key' in req.headers && req.headers['x-api-key'][0].startsWith('k_')",
    byHand: ({ headers }) => headers['x-api-key'] !== undefined && headers['x-api-key'][0]!.startsWith('k_'),
  },
  {
    name: 'arithmetic',
    source: 'req.content_length * 8 / 1000 > 100 && req.content_length % 2 == 0',
    byHand: ({ contentLength }) => Math.trunc((contentLength * 8) / 1_000) > 100 && contentLength % 2 === 0,
  },
  {
    name: 'timestamp',
    source: `conn.start > ${FROM} && conn.start.getHours() >= 8`,
    byHand: ({ start }) =>
      (start.seconds > fromSeconds || (start.seconds === fromSeconds && start.nanos > 0)) &&
      Math.floor((start.seconds % 86_400) / 3_600) >= 8,
  },
  {
    name: 'five prefixes',
    source: ['/admin', '/wp-', '/.git', '/phpmyadmin', '/api/internal']
      .map((prefix) => `req.path.startsWith('${prefix}')`)
      .join(' || '),
    byHand: ({ path }) =>
      path.startsWith('/admin') ||
      path.startsWith('/wp-') ||
      path.startsWith('/.git') ||
      path.startsWith('/phpmyadmin') ||
      path.startsWith('/api/internal'),
  },
  {
    name: 'interpolated template',
    template: 'https://${req.host}${req.path}',
    source: "'https://' + req.host + req.path",
    byHand: ({ host, path }) => `https://${host}${path}`,
  },
];

const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'curl/8.5.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile Safari/604.1',
];

/** Requests that make each rule true for some and false for others. */
export function makeRequests(count: number): readonly Request[] {
  return Array.from({ length: count }, (_, index) => {
    const headers = headerFields();
    const set: Record<string, Value> = headers;
    set['host'] = ['shop.example'];
    set['accept'] = ['text/html', '*/*'];
    set['user-agent'] = [AGENTS[index % 4]!];
    set['accept-encoding'] = ['gzip', 'br'];
    if (index % 3 === 0) set['x-api-key'] = [index % 2 === 0 ? 'k_live' : 'old'];
    if (index % 5 === 0) set['x-internal'] = ['1'];
    const address = v4FromNumber(((10 + (index % 100)) * 2 ** 24 + index * 65_793) >>> 0);
    return {
      method: index % 2 === 0 ? 'POST' : 'GET',
      path: ['/api/orders/17', '/', '/static/app.js', '/admin/users'][index % 4]!,
      host: 'shop.example',
      userAgent: AGENTS[index % 4]!,
      contentLength: index * 997,
      cookies: ['session=abc', 'theme=dark', 'lang=de', index % 2 === 0 ? 'beta=1' : 'beta-off', 'id=5'],
      headers: headers as Request['headers'],
      clientIp: new IpValue(address.text, address, () => undefined),
      country: index % 3 === 0 ? 'DE' : 'US',
      start: new Timestamp(1_767_225_590 + index * 1_801, 0),
    };
  });
}

function nested(request: Request, contentLength: unknown, start: unknown): object {
  const { method, path, host, userAgent, cookies, clientIp, country } = request;
  return {
    req: {
      method,
      path,
      host,
      user_agent: userAgent,
      content_length: contentLength,
      cookies,
      headers: { ...request.headers },
    },
    conn: { client_ip: clientIp.text, country, start },
  };
}

/** Ints are bigint and times are Date in cel-js. */
export function celJsActivation(request: Request): object {
  return nested(request, BigInt(request.contentLength), new Date(request.start.seconds * 1_000));
}

/** Times are protobuf messages in bufbuild's. */
export function bufbuildActivation(request: Request): object {
  const start = create(TimestampSchema, { seconds: BigInt(request.start.seconds), nanos: 0 });
  return nested(request, BigInt(request.contentLength), start);
}
