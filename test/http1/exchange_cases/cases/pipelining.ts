import { type CaseGroup, type ExpectedReply, ANSWERED, get, H, OK, post } from '../case.ts';

const ok: ExpectedReply = { status: 200, body: 'ok' };
const lines = (...targets: readonly string[]) =>
  targets.map((target) => ({ line: `GET ${target} HTTP/1.1` }));

/** Several requests on one connection. */
// table: cases
export const PIPELINING: CaseGroup = {
  title: 'Pipelining',
  why: 'RFC 9112 §9.3.2: served in order, one after the other',
  cases: [
    {
      name: 'two requests in one packet',
      client: get('/1') + get('/2'),
      gets: [ok, ok],
      after: 'open',
      forwards: lines('/1', '/2'),
      events: [ANSWERED, ANSWERED],
    },
    {
      name: 'ten requests in one packet',
      client: Array.from({ length: 10 }, (_, index) => get(`/${index}`)).join(''),
      gets: Array.from({ length: 10 }, () => ok),
      after: 'open',
      forwards: lines(...Array.from({ length: 10 }, (_, index) => `/${index}`)),
      events: Array.from({ length: 10 }, () => ANSWERED),
    },
    {
      name: 'content, then a request',
      client: post('Content-Length: 3\r\n', 'abc') + get('/2'),
      gets: [ok, ok],
      after: 'open',
      forwards: [{ line: 'POST / HTTP/1.1', body: 'abc' }, ...lines('/2')],
      events: [ANSWERED, ANSWERED],
    },
    {
      name: 'chunks, then a request',
      client: post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n') + get('/2'),
      gets: [ok, ok],
      after: 'open',
      forwards: [{ line: 'POST / HTTP/1.1', body: 'abc' }, ...lines('/2')],
      events: [ANSWERED, ANSWERED],
    },
    {
      name: 'chunks with trailers, then a request',
      client: post('Transfer-Encoding: chunked\r\n', '0\r\nX: 1\r\n\r\n') + get('/2'),
      gets: [ok, ok],
      after: 'open',
      forwards: [{ line: 'POST / HTTP/1.1', body: '' }, ...lines('/2')],
      events: [ANSWERED, ANSWERED],
    },
    {
      name: 'a good request, then a bad one',
      client: `${get('/1')}GET /2 HTTP/1.1\r\n${H}X : a\r\n\r\n`,
      gets: [ok, { status: 400 }],
      after: 'closed',
      forwards: lines('/1'),
      events: [ANSWERED, [400, 'request.malformed']],
    },
    {
      name: 'a bad request, then a good one',
      client: `GET /1 HTTP/1.1\r\n${H}X : a\r\n\r\n${get('/2')}`,
      gets: [{ status: 400 }],
      after: 'closed',
      forwards: [],
      events: [[400, 'request.malformed']],
      why: 'after an invalid head the start of the next is unknown',
    },
    {
      name: 'a request after Connection: close',
      client: get('/1', 'Connection: close\r\n') + get('/2'),
      gets: [ok],
      after: 'closed',
      forwards: lines('/1'),
      events: [ANSWERED],
      why: 'RFC 9112 §9.6: what follows close is ignored',
    },
    {
      name: 'HEAD, then GET',
      client: `HEAD /1 HTTP/1.1\r\n${H}\r\n${get('/2')}`,
      upstream: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      gets: [
        { status: 200, toHead: true },
        { status: 200, body: '' },
      ],
      after: 'open',
      forwards: [{ line: 'HEAD /1 HTTP/1.1' }, ...lines('/2')],
      events: [ANSWERED, ANSWERED],
    },
    {
      name: 'a request while the first is in flight',
      client: [get('/1'), { upstreamGot: '/1' }, get('/2')],
      gets: [ok, ok],
      after: 'open',
      forwards: lines('/1', '/2'),
      events: [ANSWERED, ANSWERED],
    },
    {
      name: 'one request after the other',
      client: [get('/1'), { got: '\r\n\r\nok' }, get('/2')],
      gets: [ok, ok],
      after: 'open',
      forwards: lines('/1', '/2'),
      events: [ANSWERED, ANSWERED],
    },
    {
      name: 'a refused route, then a good one',
      client: `GET /1 HTTP/1.1\r\nHost: b.test\r\n\r\n${get('/2')}`,
      gets: [{ status: 404 }, ok],
      after: 'open',
      forwards: lines('/2'),
      events: [[404, 'route.unknown_host'], ANSWERED],
    },
    {
      name: 'a refused route with content, then a good one',
      client: `POST /1 HTTP/1.1\r\nHost: b.test\r\nContent-Length: 3\r\n\r\nabc${get('/2')}`,
      gets: [{ status: 404 }, ok],
      after: 'open',
      forwards: lines('/2'),
      events: [[404, 'route.unknown_host'], ANSWERED],
    },
    {
      name: 'an upstream that closes after each',
      client: get('/1') + get('/2'),
      upstream: [{ send: OK.replace('\r\n', '\r\nConnection: close\r\n'), end: 'close' }],
      gets: [ok, ok],
      after: 'open',
      forwards: lines('/1', '/2'),
      events: [ANSWERED, ANSWERED],
    },
  ],
};
