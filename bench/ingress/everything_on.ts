/**
 * What "all modules on" means, as data that every contestant is configured from: 1,000 ranges that are refused, 100
 * user agents that are refused, headers edited both ways, ten rules, gzip, one JSON event a request.
 */

export const HOST = 'bench.test';

/** Ranges that no client of the benchmark is in, scattered so that no prefix covers many. */
export const DENIED_RANGES: readonly string[] = Array.from({ length: 1_000 }, (_, index) => {
  const hash = Math.imul(index + 1, 2_654_435_761) >>> 0;
  const first = 11 + ((hash >>> 24) % 90);
  return `${first}.${(hash >>> 16) & 255}.${(hash >>> 8) & 240}.0/${20 + (index % 5)}`;
});

/** Refused as well; used by the check before each measurement. */
export const DENIED_CLIENT = '127.0.9.9';

const STEMS = ['bot', 'crawler', 'spider', 'scan', 'fetch', 'grab', 'harvest', 'probe', 'spam', 'leech'];

/** Typical patterns of such lists: a name, often with a version. */
export const DENIED_AGENTS: readonly string[] = Array.from({ length: 100 }, (_, index) => {
  const stem = STEMS[index % STEMS.length]!;
  const name = `${String.fromCharCode(65 + (index % 26))}${stem}${index}`;
  return index % 3 === 0 ? `${name}/[0-9]+` : index % 3 === 1 ? `^${name}` : `(?:${name}|${name}er) v`;
});

/** An agent that the list refuses. */
export const DENIED_AGENT = 'Abot0/7';

export const REQUEST_EDITS = {
  add: { 'X-Edge': 'bench', 'X-Plan': 'basic', 'X-Region': 'local' },
  remove: ['Cookie', 'Accept-Language'],
} as const;

export const RESPONSE_EDITS = {
  add: { 'X-Frame-Options': 'DENY', 'Strict-Transport-Security': 'max-age=31536000', 'X-Served-By': 'edge' },
  remove: ['Server', 'X-Internal'],
} as const;

/** Ten rules, each evaluated for every request; none stops one. */
export const POLICY = {
  on_http_request: [
    ["req.method == 'DELETE' && req.url.path.startsWith('/admin')", 'deny'],
    ["hasReqHeader('x-attack')", 'deny'],
    ["req.url.path.matches('^/internal/.*\\\\.php$')", 'deny'],
    ["req.method in ['TRACE', 'CONNECT', 'PROPFIND']", 'deny'],
    ["hasReqCookie('banned')", 'deny'],
    ["req.url.path.endsWith('.bak')", 'deny'],
    ['size(req.url.path) > 2000', 'deny'],
    ["inCidrRange(conn.client_ip, '192.0.2.0/24') && req.method == 'POST'", 'deny'],
    ["'x-debug' in req.headers && req.url.path == '/debug'", 'deny'],
    ["req.url.path.contains('..%2f')", 'deny'],
  ].map(([expression, type]) => ({
    expressions: [expression],
    actions: [{ type, config: { status_code: 403 } }],
  })),
} as const;
