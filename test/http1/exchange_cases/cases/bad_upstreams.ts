import { type CaseGroup, type ExchangeCase, ANSWERED, answered, faulty, get, OK } from '../case.ts';

const invalid = (name: string, reply: string, more: Partial<ExchangeCase> = {}): ExchangeCase =>
  faulty(name, reply, 502, 'upstream.invalid', more);
const CUT = { status: 200, cut: true, body: 'abc' } as const;
const cut = (name: string, upstream: Exclude<ExchangeCase['upstream'], undefined>): ExchangeCase =>
  answered(name, upstream, CUT, { inOnePiece: true });

/** Faulty upstreams. */
// table: cases
export const BAD_UPSTREAMS: CaseGroup = {
  title: 'Faulty upstreams',
  why: 'a response whose end two parsers could see differently is 502; one that breaks off is cut, never ended as if it were complete (RFC 9112 §8)',
  cases: [
    faulty('nothing listens', null, 502, 'upstream.connect', { forwards: [], after: undefined! }),
    faulty('closes at once', [{ on: 'head', end: 'close' }], 502, 'upstream.reset', {
      forwards: [{ line: 'GET / HTTP/1.1' }],
      after: undefined!,
    }),
    faulty('resets at once', [{ on: 'head', end: 'reset' }], 502, 'upstream.reset', { after: undefined! }),
    faulty('closes in its head', [{ send: 'HTTP/1.1 200 OK\r\nX: 1', end: 'close' }], 502, 'upstream.reset', {
      after: undefined!,
    }),
    faulty(
      'closes after a status line',
      [{ send: 'HTTP/1.1 200 OK\r\n', end: 'close' }],
      502,
      'upstream.reset',
      { after: undefined! },
    ),
    invalid('garbage', '220 mail ready\r\n\r\n'),
    invalid('bytes of TLS', '\x15\x03\x01\x00\x02\x02\x46\r\n\r\n'),
    invalid('another protocol name', 'ICY 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    invalid('an invalid version', 'HTTP/3.7 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    invalid('a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok'),
    invalid('a status of four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok'),
    invalid('a status that is not a number', 'HTTP/1.1 2xx OK\r\nContent-Length: 2\r\n\r\nok'),
    invalid(
      'two kinds of framing',
      `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    ),
    invalid('two different lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'),
    invalid('two equal lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'),
    invalid('a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'),
    invalid('a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok'),
    invalid('a length that is not a number', 'HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok'),
    invalid('a length beyond 2^64', 'HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551618\r\n\r\nok'),
    invalid('an unknown coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\nok'),
    invalid('gzip, chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'),
    invalid('chunked twice', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n'),
    invalid('a folded field', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok'),
    invalid('a bare LF', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'),
    invalid('a bare CR in a value', 'HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nok'),
    invalid('NUL in a value', 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok'),
    invalid('space before a colon', 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok'),
    invalid('a line without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\nok'),
    invalid('an empty name', 'HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 2\r\n\r\nok'),
    invalid(
      'a head above the limit',
      `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(1_100_000)}\r\nContent-Length: 2\r\n\r\nok`,
      { inOnePiece: true },
    ),
    cut('closes in its content', [
      { send: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc' },
      { clientGot: 'abc', end: 'close' },
    ]),
    cut('resets in its content', [
      { send: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc' },
      { clientGot: 'abc', end: 'reset' },
    ]),
    cut('closes between chunks', [
      { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n' },
      { clientGot: 'abc', end: 'close' },
    ]),
    cut('closes in a chunk', [
      { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc' },
      { clientGot: 'abc', end: 'close' },
    ]),
    cut('a head, content and an invalid chunk size, at once', [
      { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n' },
    ]),
    cut('an invalid chunk size', [
      { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n' },
      { clientGot: 'abc', send: 'zz\r\n' },
    ]),
    cut('a chunk longer than its size', [
      { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n' },
      { clientGot: 'abc', send: '3\r\nabcd\r\n0\r\n\r\n' },
    ]),
    cut('a bare LF after a chunk size', [
      { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n' },
      { clientGot: 'abc', send: '3\nabc\r\n0\r\n\r\n' },
    ]),
    cut('a chunk size of 17 digits', [
      { send: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n' },
      { clientGot: 'abc', send: '10000000000000003\r\nabc\r\n0\r\n\r\n' },
    ]),
    {
      name: 'an unrequested second response',
      client: [get('/1'), { got: 'ok' }, get('/2')],
      upstream: `${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`,
      gets: [
        { status: 200, body: 'ok' },
        { status: 200, body: 'ok' },
      ],
      forwards: [{ line: 'GET /1 HTTP/1.1' }, { line: 'GET /2 HTTP/1.1' }],
      events: [ANSWERED, ANSWERED],
    },
    {
      name: 'bytes after a response',
      client: [get('/1'), { got: 'ok' }, get('/2')],
      upstream: `${OK}xyz`,
      gets: [
        { status: 200, body: 'ok' },
        { status: 200, body: 'ok' },
      ],
      forwards: [{ line: 'GET /1 HTTP/1.1' }, { line: 'GET /2 HTTP/1.1' }],
      events: [ANSWERED, ANSWERED],
    },
  ],
};
