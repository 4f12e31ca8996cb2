import { type CaseGroup, answered, get, H, passed } from '../case.ts';

const LINE = { line: 'GET / HTTP/1.1' };
const reply = (fields: string): string => `HTTP/1.1 200 OK\r\n${fields}Content-Length: 2\r\n\r\nok`;

/** Hop-by-hop fields, and fields that the edge adds. */
// table: cases
export const HOP_BY_HOP: CaseGroup = {
  title: 'Hop-by-hop fields',
  why: 'RFC 9110 §7.6.1: an intermediary removes hop-by-hop fields, and those that Connection names, in both directions',
  cases: [
    passed(
      'Connection and what it names',
      get('/', 'Connection: X-Mine, keep-alive\r\nX-Mine: 1\r\nX-Other: 2\r\n'),
      { ...LINE, lacks: ['x-mine'], has: ['x-other: 2'] },
    ),
    passed(
      'what a second Connection names',
      get('/', 'Connection: keep-alive\r\nConnection: X-Mine\r\nX-Mine: 1\r\n'),
      { ...LINE, lacks: ['x-mine'] },
    ),
    passed('Keep-Alive', get('/', 'Keep-Alive: timeout=5\r\n'), { ...LINE, lacks: ['keep-alive'] }),
    passed('Proxy-Connection', get('/', 'Proxy-Connection: keep-alive\r\n'), {
      ...LINE,
      lacks: ['proxy-connection'],
    }),
    passed(
      'Proxy-Connection: close closes nothing',
      get('/', 'Proxy-Connection: close\r\n'),
      { ...LINE, lacks: ['proxy-connection', 'connection: close'] },
      { after: 'open', why: 'RFC 9112 appendix C.2.2: it is not standardised and has no effect' },
    ),
    passed('TE', get('/', 'TE: gzip\r\nConnection: TE\r\n'), { ...LINE, lacks: ['te'] }),
    passed('Upgrade without Connection', get('/', 'Upgrade: websocket\r\n'), { ...LINE, lacks: ['upgrade'] }),
    passed(
      'Proxy-Authorization',
      get('/', 'Proxy-Authorization: Basic eA==\r\n'),
      { ...LINE, lacks: ['proxy-authorization'] },
      { why: 'it is for this hop (RFC 9110 §11.7.2)' },
    ),
    passed(
      'Connection: host keeps Host',
      get('/', 'Connection: host\r\n'),
      { ...LINE, has: ['host: a.test'] },
      { why: 'without Host the request would go to another site' },
    ),
    passed(
      'Connection: content-length keeps the framing',
      `POST / HTTP/1.1\r\n${H}Connection: content-length\r\nContent-Length: 3\r\n\r\nabc`,
      { line: 'POST / HTTP/1.1', body: 'abc', framing: 'length' },
      { why: 'without its length the content would be the next request' },
    ),
    passed(
      'Connection: transfer-encoding keeps the framing',
      `POST / HTTP/1.1\r\n${H}Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      { line: 'POST / HTTP/1.1', body: 'abc' },
    ),
    passed(
      'Connection: x-forwarded-for does not hide the client',
      get('/', 'Connection: x-forwarded-for\r\n'),
      { ...LINE, has: ['x-forwarded-for: 127.0.0.1'] },
    ),
    passed('X-Forwarded-For is appended to', get('/', 'X-Forwarded-For: 192.0.2.1\r\n'), {
      ...LINE,
      has: ['x-forwarded-for: 192.0.2.1, 127.0.0.1'],
    }),
    passed('Authorization and Cookie stay', get('/', 'Authorization: Basic eA==\r\nCookie: a=b\r\n'), {
      ...LINE,
      has: ['authorization: Basic eA==', 'cookie: a=b'],
    }),
    passed('two Cookie fields stay two', get('/', 'Cookie: a=b\r\nCookie: c=d\r\n'), {
      ...LINE,
      has: ['cookie: a=b', 'cookie: c=d'],
    }),
    answered(
      'Connection and what it names, of a response',
      reply('Connection: X-Mine\r\nX-Mine: 1\r\nX-Other: 2\r\n'),
      { status: 200, body: 'ok', lacks: ['x-mine'], has: ['x-other: 2'] },
      { after: 'open' },
    ),
    answered(
      'Keep-Alive of a response',
      reply('Keep-Alive: timeout=7\r\n'),
      { status: 200, lacks: ['keep-alive: timeout=7'] },
      { after: 'open' },
    ),
    answered(
      'Proxy-Authenticate of a response',
      reply('Proxy-Authenticate: Basic\r\n'),
      { status: 200, lacks: ['proxy-authenticate'] },
      { after: 'open' },
    ),
    answered(
      'Upgrade in a response without a switch',
      reply('Upgrade: h2c\r\nConnection: Upgrade\r\n'),
      { status: 200, lacks: ['upgrade'] },
      { after: 'open' },
    ),
    answered(
      "Connection: close of the upstream is not the client's",
      reply('Connection: close\r\n'),
      { status: 200, body: 'ok', lacks: ['connection: close'] },
      { after: 'open', why: 'another hop' },
    ),
    answered(
      'Set-Cookie twice stays two',
      reply('Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n'),
      { status: 200, has: ['set-cookie: a=b', 'set-cookie: c=d'] },
      { after: 'open' },
    ),
    answered(
      'WWW-Authenticate stays',
      'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n',
      { status: 401, has: ['www-authenticate: Basic realm="x"'] },
      { after: 'open' },
    ),
    answered(
      'a Date that the upstream sent stays one',
      reply('Date: Sat, 21 Nov 2026 00:00:00 GMT\r\n'),
      { status: 200, has: ['date: Sat, 21 Nov 2026 00:00:00 GMT'] },
      { after: 'open' },
    ),
  ],
};
