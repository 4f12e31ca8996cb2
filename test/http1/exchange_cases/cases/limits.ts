import { type CaseGroup, type ExchangeCase, get, H, passed, post, refused } from '../case.ts';

const SMALL = { limits: { headBytes: 16_384 }, inOnePiece: true } as const satisfies Partial<ExchangeCase>;
const HURRY = {
  limits: { headMs: 300, bodyIdleMs: 300, requestMs: 5_000, keepAliveMs: 300 },
  inOnePiece: true,
} as const;

const chunked = (content: string): string => post('Transfer-Encoding: chunked\r\n', content);

/** Invalid content may be detected after its start was forwarded. */
const contentRefused = (name: string, status: number, client: string, reason: string): ExchangeCase => ({
  name,
  client,
  gets: [{ status }],
  after: 'closed',
  forwards: [],
  partial: true,
  events: [[status, reason]],
  inOnePiece: true,
});

/** Limits of size and time. */
// table: cases
export const LIMITS: CaseGroup = {
  title: 'Limits',
  why: 'limits are configurable; the comparison uses 16 kB of head and one second for all servers',
  cases: [
    passed(
      'a head below the limit',
      get('/', `X: ${'a'.repeat(8_000)}\r\n`),
      { line: 'GET / HTTP/1.1' },
      SMALL,
    ),
    refused(
      'a value above the limit',
      431,
      get('/', `X: ${'a'.repeat(17_000)}\r\n`),
      'request.head_too_large',
      SMALL,
    ),
    refused(
      'many fields above the limit',
      431,
      get('/', 'X: aaaaaaaaaa\r\n'.repeat(2_000)),
      'request.head_too_large',
      SMALL,
    ),
    refused(
      'a head that never ends',
      431,
      `GET / HTTP/1.1\r\n${H}X: ${'a'.repeat(40_000)}`,
      'request.head_too_large',
      SMALL,
    ),
    passed(
      '200 fields',
      get('/', Array.from({ length: 200 }, (_, index) => `x-${index}: ${index}\r\n`).join('')),
      { line: 'GET / HTTP/1.1', has: ['x-199: 199'] },
      { inOnePiece: true, why: 'HAProxy accepts 101 fields by default' },
    ),
    passed(
      'a target of 7,000 bytes',
      get(`/${'a'.repeat(7_000)}`),
      { line: `GET /${'a'.repeat(7_000)} HTTP/1.1` },
      { inOnePiece: true },
    ),
    passed(
      '1 MB of content',
      post('Content-Length: 1000000\r\n', 'x'.repeat(1_000_000)),
      { line: 'POST / HTTP/1.1', body: 'x'.repeat(1_000_000) },
      { inOnePiece: true },
    ),
    contentRefused(
      'chunk extensions above the limit',
      413,
      chunked(`3;x=${'a'.repeat(17_000)}\r\nabc\r\n0\r\n\r\n`),
      'upstream.body_extensions_too_large',
    ),
    contentRefused(
      'trailers above the limit',
      431,
      chunked(`3\r\nabc\r\n0\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`),
      'upstream.body_trailers_too_large',
    ),
    contentRefused(
      'more trailers than fields',
      431,
      chunked(`3\r\nabc\r\n0\r\n${'X:\r\n'.repeat(10_001)}\r\n`),
      'upstream.body_trailers_too_large',
    ),
    refused('a head that stops', 408, `GET / HTTP/1.1\r\n${H}X-`, 'request.timeout', HURRY),
    refused('a first line that stops', 408, 'GET / HT', 'request.timeout', HURRY),
    {
      name: 'a connection that sends nothing',
      client: [],
      gets: [],
      after: 'closed',
      forwards: [],
      events: [],
      ...HURRY,
      why: 'no byte, no request, no event',
    },
    {
      name: 'content that stops',
      client: post('Content-Length: 10\r\n', 'abc'),
      gets: [{ status: 408 }],
      after: 'closed',
      forwards: [],
      partial: true,
      events: [[408, 'upstream.body_timeout']],
      ...HURRY,
    },
    {
      name: 'a kept connection that sends nothing more',
      client: get('/'),
      gets: [{ status: 200, body: 'ok' }],
      after: 'closed',
      forwards: [{ line: 'GET / HTTP/1.1' }],
      events: [[200, 'upstream.answered']],
      ...HURRY,
    },
    {
      name: 'an upstream that sends nothing',
      client: get('/'),
      upstream: [{ end: undefined!, clientGot: 'never' }],
      gets: [{ status: 504 }],
      forwards: [{ line: 'GET / HTTP/1.1' }],
      events: [[504, 'upstream.timeout']],
      upstreamLimits: { headMs: 300 },
      inOnePiece: true,
    },
    {
      name: 'an upstream that stops in its head',
      client: get('/'),
      upstream: [{ send: 'HTTP/1.1 200 OK\r\nX: ' }, { clientGot: 'never' }],
      gets: [{ status: 504 }],
      forwards: [{ line: 'GET / HTTP/1.1' }],
      events: [[504, 'upstream.timeout']],
      upstreamLimits: { headMs: 300 },
      inOnePiece: true,
    },
    {
      name: 'an upstream that stops in its content',
      client: get('/'),
      upstream: [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc' }, { clientGot: 'never' }],
      gets: [{ status: 200, cut: true, body: 'abc' }],
      forwards: [{ line: 'GET / HTTP/1.1' }],
      events: [[200, 'upstream.answered']],
      upstreamLimits: { bodyIdleMs: 300 },
      inOnePiece: true,
    },
  ],
};
