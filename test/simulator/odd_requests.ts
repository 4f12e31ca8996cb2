import type { EdgeConfig } from '../../src/edge/document/schema.ts';

const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'get', 'FOO'];
/** What follows the path of a route, as clients and attackers write it. */
const TAILS = [
  '',
  '/',
  '/x',
  '?a=1&a=2',
  '?',
  '?token=abc&q=%zz',
  '?q=a+b%20c&x',
  '/%2e%2e/x',
  '/../x',
  '/./x',
  '//x',
  ';v=1',
  '/%41b',
  '/a%2Fb',
  '/a\\b',
  '/%00',
  '/\u00e9',
  '#f',
  '/.well-known/x?y=[1]',
  `/${'a'.repeat(300)}`,
];
const FIELDS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['user-agent', ['curl/8', 'Mozilla/5.0', 'badbot', '', 'a\tb']],
  ['accept-encoding', ['gzip', 'br;q=0, gzip', 'identity', '*', 'gzip;q=2', 'zstd, deflate', 'x']],
  ['X-Lane', ['Blue', 'blue', 'green', ' Blue ']],
  ['authorization', ['Basic YTpi', 'Bearer x', 'Basic !', 'basic YTpi', '']],
  ['cookie', ['a=1; b=2', 'a', '=x', 'a="1"; a=2', 'session=x;;; ']],
  ['X-Forwarded-For', ['1.2.3.4', 'unknown', '::1, 1.1.1.1']],
  ['x-forwarded-proto', ['https', 'ftp']],
  ['Forwarded', ['for=1.2.3.4;proto=https']],
  ['x_under', ['1']],
  ['connection', ['close, x-lane', 'close, te']],
  ['te', ['trailers', 'gzip']],
  ['range', ['bytes=0-4']],
  ['if-none-match', ['"1"', '*']],
  ['origin', ['https://evil.test']],
  ['content-type', ['application/json', 'text/plain; charset=utf-8', 'x']],
  ['x-latin', ['caf\u00e9']],
  ['via', ['1.1 x']],
  ['referer', ['https://a.test/?code=1&state=2']],
  ['bad name', ['x']],
  ['x-many', ['1', '2', '3']],
];
const BODIES = ['', '{"a":1}', '{"a":', 'a=b&c=d', 'x'.repeat(3_000)];

/** The bytes of a request to one of the routes, as Latin-1 text; the connection closes after it. */
export function oddRequest(config: EdgeConfig, random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const places = Object.values(config.edges.https).flatMap(({ hostports, routes }) =>
    hostports.flatMap((hostport) => {
      const host = hostport.replace(/:\d+$/, '').replace('*', 'any');
      const paths = ['/none', ...routes.map(({ match }) => match.slice(Math.max(0, match.indexOf('/'))))];
      return paths.map((path) => ({ host, path }));
    }),
  );
  const { host, path } = pick(places);
  const hosts = [host, host, host, host, host.toUpperCase(), `${host}:8080`, `${host}.`, 'other.test', ''];
  const target = `${path === '/' ? '' : path}${pick(TAILS)}`;
  const named = pick(hosts);
  const form = random();
  const written = form < 0.05 ? `http://${named}${target}` : form < 0.06 ? '*' : target === '' ? '/' : target;
  const lines = [`${pick(METHODS)} ${written} HTTP/1.${random() < 0.05 ? 0 : 1}`];
  if (random() < 0.97) lines.push(`Host: ${named}`);
  for (let count = Math.floor(random() * 5); count > 0; count--) {
    const [name, values] = pick(FIELDS);
    lines.push(`${name}: ${pick(values)}`);
  }
  const body = random() < 0.35 ? pick(BODIES) : null;
  if (body !== null) lines.push(`Content-Length: ${body.length}`);
  lines.push('Connection: close');
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}
