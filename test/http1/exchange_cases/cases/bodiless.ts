import { type CaseGroup, type ExchangeCase, ANSWERED, answered, get, H } from '../case.ts';

const head = (
  name: string,
  upstream: string,
  more: Partial<ExchangeCase['gets'][number]> = {},
): ExchangeCase => ({
  name,
  client: `HEAD / HTTP/1.1\r\n${H}\r\n`,
  upstream,
  gets: [{ status: 200, toHead: true, ...more }],
  after: 'open',
  forwards: [{ line: 'HEAD / HTTP/1.1' }],
  events: [ANSWERED],
});

/** Responses without content. */
// table: cases
export const BODILESS: CaseGroup = {
  title: 'HEAD, 204, 205, 304',
  why: 'RFC 9112 §6.3: these responses end with their head, whatever their fields say',
  cases: [
    head('HEAD keeps the length that GET would have', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', {
      has: ['content-length: 5'],
    }),
    head('HEAD without framing', 'HTTP/1.1 200 OK\r\nX: 1\r\n\r\n', { has: ['x: 1'] }),
    head('HEAD answered with Transfer-Encoding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'),
    answered(
      '204',
      'HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n',
      { status: 204, has: ['x: 1'], lacks: ['content-length', 'transfer-encoding'] },
      { after: 'open' },
    ),
    answered(
      '304 with the length of the representation',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n',
      { status: 304, has: ['etag: "a"'] },
      { after: 'open' },
    ),
    answered(
      '304 without a length',
      'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
      { status: 304, has: ['etag: "a"'] },
      { after: 'open' },
    ),
    answered(
      '205',
      'HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n',
      { status: 205, body: '' },
      { after: 'open' },
    ),
    answered(
      '200 without content',
      'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      { status: 200, body: '', has: ['content-length: 0'] },
      { after: 'open' },
    ),
    {
      name: '204, then the next request',
      client: get('/1') + get('/2'),
      upstream: 'HTTP/1.1 204 No Content\r\n\r\n',
      gets: [{ status: 204 }, { status: 204 }],
      after: 'open',
      forwards: [{ line: 'GET /1 HTTP/1.1' }, { line: 'GET /2 HTTP/1.1' }],
      events: [
        [204, 'upstream.answered'],
        [204, 'upstream.answered'],
      ],
    },
    {
      name: 'HEAD of an unknown host',
      client: 'HEAD / HTTP/1.1\r\nHost: b.test\r\n\r\n',
      gets: [{ status: 404, toHead: true }],
      after: 'open',
      forwards: [],
      events: [[404, 'route.unknown_host']],
    },
    {
      name: 'content after 204 does not reach another request',
      client: [get('/1'), { got: ' 204 ' }, get('/2')],
      upstream: 'HTTP/1.1 204 No Content\r\n\r\npoison',
      gets: [{ status: 204 }, { status: 204 }],
      forwards: [{ line: 'GET /1 HTTP/1.1' }, { line: 'GET /2 HTTP/1.1' }],
      events: [
        [204, 'upstream.answered'],
        [204, 'upstream.answered'],
      ],
    },
    {
      name: 'content after 304 does not reach another request',
      client: [get('/1'), { got: ' 304 ' }, get('/2')],
      upstream: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\npoison',
      gets: [{ status: 304 }, { status: 304 }],
      forwards: [{ line: 'GET /1 HTTP/1.1' }, { line: 'GET /2 HTTP/1.1' }],
      events: [
        [304, 'upstream.answered'],
        [304, 'upstream.answered'],
      ],
    },
  ],
};
