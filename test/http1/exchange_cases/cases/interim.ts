import { type CaseGroup, type ExchangeCase, ANSWERED, answered, get, H, OK, post, refused } from '../case.ts';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const EXPECT = post('Expect: 100-continue\r\nContent-Length: 3\r\n', '');
const POSTED = { line: 'POST / HTTP/1.1', body: 'abc' } as const;

/** A client that waits for 100 before it sends its content. */
const expecting = (name: string, more: Partial<ExchangeCase>): ExchangeCase => ({
  name,
  client: [EXPECT, { got: CONTINUE.slice(0, 12) }, 'abc'],
  gets: [{ status: 100 }, { status: 200, body: 'ok' }],
  after: 'open',
  forwards: [POSTED],
  events: [ANSWERED],
  ...more,
});

/** Expect and interim responses. */
// table: cases
export const INTERIM: CaseGroup = {
  title: 'Expect and 1xx',
  why: 'RFC 9110 §10.1.1 and §15.2: a proxy forwards interim responses, and 100 is sent when the content is wanted',
  cases: [
    expecting('100 from the upstream', { upstream: [{ on: 'head', send: CONTINUE }, { send: OK }] }),
    expecting('an upstream that sends no 100', {}),
    expecting('content that does not wait', {
      client: post('Expect: 100-continue\r\nContent-Length: 3\r\n', 'abc'),
      gets: [
        { status: 100, optional: true },
        { status: 200, body: 'ok' },
      ],
    }),
    expecting('Expect in capitals', {
      client: [post('EXPECT: 100-CONTINUE\r\nContent-Length: 3\r\n', ''), { got: 'HTTP/1.1 100' }, 'abc'],
    }),
    expecting('Expect with chunks', {
      client: [
        post('Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n', ''),
        { got: 'HTTP/1.1 100' },
        '3\r\nabc\r\n0\r\n\r\n',
      ],
    }),
    expecting('Expect without content', {
      client: `GET / HTTP/1.1\r\n${H}Expect: 100-continue\r\n\r\n`,
      gets: [
        { status: 100, optional: true },
        { status: 200, body: 'ok' },
      ],
      forwards: [{ line: 'GET / HTTP/1.1' }],
    }),
    expecting('Expect of HTTP/1.0 is not answered', {
      client: `POST / HTTP/1.0\r\n${H}Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc`,
      gets: [{ status: 200, body: 'ok' }],
      after: 'closed',
      why: 'RFC 9110 §10.1.1: HTTP/1.0 has no 100',
    }),
    refused('another expectation', 417, get('/', 'Expect: tea\r\n'), 'request.expectation', {
      why: 'RFC 9110 §10.1.1',
    }),
    refused(
      '100-continue and another',
      417,
      get('/', 'Expect: 100-continue, tea\r\n'),
      'request.expectation',
    ),
    answered(
      '103 is forwarded',
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`,
      [
        { status: 103, has: ['link: </a>'] },
        { status: 200, body: 'ok' },
      ],
      { after: 'open' },
    ),
    answered(
      'two 103 are forwarded',
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n${OK}`,
      [
        { status: 103, has: ['link: </a>'] },
        { status: 103, has: ['link: </b>'] },
        { status: 200, body: 'ok' },
      ],
      { after: 'open' },
    ),
    answered(
      '103 loses hop-by-hop fields',
      `HTTP/1.1 103 Early Hints\r\nConnection: X-Mine\r\nX-Mine: 1\r\nLink: </a>\r\n\r\n${OK}`,
      [
        { status: 103, has: ['link: </a>'], lacks: ['x-mine', 'connection: X-Mine'] },
        { status: 200, body: 'ok' },
      ],
      { after: 'open' },
    ),
    answered(
      '102 does no harm',
      `HTTP/1.1 102 Processing\r\n\r\n${OK}`,
      [
        { status: 102, optional: true },
        { status: 200, body: 'ok' },
      ],
      { after: 'open' },
    ),
    answered(
      'an unknown interim response does no harm',
      `HTTP/1.1 199 What\r\n\r\n${OK}`,
      [
        { status: 199, optional: true },
        { status: 200, body: 'ok' },
      ],
      { after: 'open' },
    ),
    answered(
      'an unrequested 100 does no harm',
      `${CONTINUE}${OK}`,
      [
        { status: 100, optional: true },
        { status: 200, body: 'ok' },
      ],
      { after: 'open', why: 'RFC 9110 §15.2.1: clients must accept it' },
    ),
    answered(
      '103 is not for HTTP/1.0',
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`,
      { status: 200, body: 'ok' },
      {
        client: `GET / HTTP/1.0\r\n${H}\r\n`,
        after: 'closed',
        why: 'RFC 9110 §15.2: no 1xx to a 1.0 client',
      },
    ),
    {
      name: 'a response before the content is requested',
      client: [EXPECT],
      upstream: [{ on: 'head', send: 'HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno' }],
      gets: [{ status: 413, body: 'no' }],
      forwards: [],
      partial: true,
      events: [[413, 'upstream.answered']],
    },
    {
      name: 'a response while content is being sent',
      client: [post('Content-Length: 8\r\n', 'abc'), { got: 'no' }, 'defgh'],
      upstream: [{ on: 'head', got: 'abc', send: 'HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno' }],
      gets: [{ status: 413, body: 'no' }],
      forwards: [],
      partial: true,
      events: [[413, 'upstream.answered']],
    },
    {
      name: 'a flood of interim responses',
      client: get('/'),
      upstream: [{ send: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(5_000) }, { send: OK }],
      gets: [{ status: 103, optional: true }, { status: 502 }],
      forwards: [{ line: 'GET / HTTP/1.1' }],
      events: [[502, 'upstream.invalid']],
      inOnePiece: true,
      why: 'interim responses are counted: an upstream that sends nothing else must not hold a connection forever',
    },
  ],
};
