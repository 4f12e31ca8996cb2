import { type CaseGroup, answered, passed, post } from '../case.ts';

const TE = 'Transfer-Encoding: chunked\r\n';
const POST = 'POST / HTTP/1.1';
const CHUNKED = `HTTP/1.1 200 OK\r\n${TE}`;

/** Fields after the content. */
// table: cases
export const TRAILERS: CaseGroup = {
  title: 'Trailers',
  why: 'RFC 9110 §6.5: trailers are forwarded as trailers or dropped, and never become fields of a head',
  cases: [
    passed('of a request do not join its head', post(TE, '3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n'), {
      line: POST,
      body: 'abc',
      lacks: ['x-t'],
    }),
    {
      name: 'of a request cannot change the framing',
      client: post(TE, '3\r\nabc\r\n0\r\nContent-Length: 9\r\n\r\n'),
      gets: [{ status: 400 }],
      after: 'closed',
      forwards: [],
      partial: true,
      events: [[400, 'upstream.body_malformed']],
      why: 'RFC 9110 §6.5.1: framing must not be in trailers; it would mislead a recipient that merges them',
    },
    passed('of a request cannot name another host', post(TE, '3\r\nabc\r\n0\r\nHost: b.test\r\n\r\n'), {
      line: POST,
      body: 'abc',
      has: ['host: a.test'],
    }),
    passed('of a request cannot carry credentials into the head', post(TE, '0\r\nAuthorization: x\r\n\r\n'), {
      line: POST,
      body: '',
      lacks: ['authorization'],
    }),
    answered(
      'of a response do not join its head',
      `${CHUNKED}\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n`,
      { status: 200, body: 'ok', lacks: ['x-t'] },
      { after: 'open' },
    ),
    answered(
      'of a response that were announced',
      `${CHUNKED}Trailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n`,
      { status: 200, body: 'ok', lacks: ['x-t'] },
      { after: 'open' },
    ),
    answered(
      'of a response cannot change the framing',
      [{ send: `${CHUNKED}\r\n2\r\nok\r\n` }, { clientGot: 'ok', send: '0\r\nContent-Length: 9\r\n\r\n' }],
      { status: 200, cut: true, body: 'ok' },
      { inOnePiece: true },
    ),
    {
      name: 'of a request with an invalid line',
      client: post(TE, '3\r\nabc\r\n0\r\nX T: 1\r\n\r\n'),
      gets: [{ status: 400 }],
      after: 'closed',
      forwards: [],
      partial: true,
      events: [[400, 'upstream.body_malformed']],
    },
    {
      name: 'of a request with a folded line',
      client: post(TE, '3\r\nabc\r\n0\r\nX: 1\r\n 2\r\n\r\n'),
      gets: [{ status: 400 }],
      after: 'closed',
      forwards: [],
      partial: true,
      events: [[400, 'upstream.body_malformed']],
    },
    {
      name: 'of a request with a bare LF',
      client: post(TE, '3\r\nabc\r\n0\r\nX: 1\nY: 2\r\n\r\n'),
      gets: [{ status: 400 }],
      after: 'closed',
      forwards: [],
      partial: true,
      events: [[400, 'upstream.body_malformed']],
    },
  ],
};
