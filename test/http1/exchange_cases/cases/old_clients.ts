import { type CaseGroup, type ExchangeCase, ANSWERED, answered, get, H, OK, passed } from '../case.ts';

const ONE = { line: 'GET / HTTP/1.1' } as const;
const gone = (name: string, more: Partial<ExchangeCase>): ExchangeCase => ({
  name,
  client: '',
  gets: [],
  forwards: [],
  partial: true,
  events: [[0, 'upstream.cancelled']],
  inOnePiece: true,
  ...more,
});
const NEVER = [{ on: 'head', clientGot: 'never' }] as const;

/** HTTP/1.0, Connection: close, and clients that leave. */
// table: cases
export const OLD_CLIENTS: CaseGroup = {
  title: 'HTTP/1.0, close, and clients that leave',
  why: 'RFC 9112 §9.3 and §9.6; a client that half-closes while it waits has left, because it cannot be distinguished from a killed one',
  cases: [
    passed('HTTP/1.0', `GET / HTTP/1.0\r\n${H}\r\n`, ONE, { after: 'closed' }),
    passed(
      'HTTP/1.0 with content',
      `POST / HTTP/1.0\r\n${H}Content-Length: 3\r\n\r\nabc`,
      { line: 'POST / HTTP/1.1', body: 'abc' },
      { after: 'closed' },
    ),
    passed('HTTP/1.0 that keeps', `GET / HTTP/1.0\r\n${H}Connection: keep-alive\r\n\r\n`, ONE),
    answered(
      'no chunks for HTTP/1.0',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      { status: 200, body: 'ok', framing: 'close' },
      { client: `GET / HTTP/1.0\r\n${H}\r\n`, after: 'closed' },
    ),
    passed('Connection: close', get('/', 'Connection: close\r\n'), ONE, {
      gets: [{ status: 200, body: 'ok', has: ['connection: close'] }],
      after: 'closed',
    }),
    passed('Connection: close in a list', get('/', 'Connection: x, Close\r\n'), ONE, { after: 'closed' }),
    passed(
      'Connection: close is not passed on',
      get('/', 'Connection: close\r\n'),
      { ...ONE, lacks: ['close'] },
      { after: 'closed' },
    ),
    passed('Connection: keep-alive', get('/', 'Connection: keep-alive\r\n'), ONE),
    gone('leaves while the upstream processes', {
      client: [get('/'), { upstreamGot: 'GET / ' }, { leave: 'close' }],
      upstream: NEVER,
      forwards: [ONE],
    }),
    gone('resets while the upstream processes', {
      client: [get('/'), { upstreamGot: 'GET / ' }, { leave: 'reset' }],
      upstream: NEVER,
      forwards: [ONE],
    }),
    gone('half-closes while the upstream processes', {
      client: [get('/'), { upstreamGot: 'GET / ' }, { leave: 'half' }],
      upstream: NEVER,
      after: 'closed',
      forwards: [ONE],
    }),
    gone('leaves in its content', {
      client: [
        `POST / HTTP/1.1\r\n${H}Content-Length: 9\r\n\r\nabc`,
        { upstreamGot: 'POST / ' },
        { leave: 'close' },
      ],
      upstream: NEVER,
    }),
    gone('resets in its chunks', {
      client: [
        `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
        { upstreamGot: 'POST / ' },
        { leave: 'reset' },
      ],
      upstream: NEVER,
    }),
    gone('leaves during the response', {
      client: [get('/'), { got: 'abc' }, { leave: 'close' }],
      upstream: [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc' }, { clientGot: 'never' }],
      forwards: [ONE],
      gets: [{ status: 200, cut: true, body: 'abc' }],
      events: [ANSWERED],
    }),
    gone('half-closes in its head', {
      client: [`GET / HTTP/1.1\r\n${H}X-`, { leave: 'half' }],
      gets: [{ status: 400 }],
      after: 'closed',
      events: [[400, 'request.malformed']],
      why: 'a request that has begun has an event',
    }),
    gone('connects and leaves', { client: [{ leave: 'close' }], events: [] }),
    {
      name: 'half-closes after its request, which is answered at once',
      client: [get('/'), { got: 'ok' }, { leave: 'half' }],
      upstream: OK,
      gets: [{ status: 200, body: 'ok' }],
      after: 'closed',
      forwards: [ONE],
      events: [ANSWERED],
    },
  ],
};
