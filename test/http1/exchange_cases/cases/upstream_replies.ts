import { type CaseGroup, answered, get } from '../case.ts';

const chunked = (body: string): string => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;

/** Valid responses, with every framing. */
// table: cases
export const UPSTREAM_REPLIES: CaseGroup = {
  title: 'Replies',
  why: 'RFC 9112 §6 and §7',
  cases: [
    answered(
      'length',
      'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc',
      { status: 200, body: 'abc', framing: 'length' },
      { after: 'open' },
    ),
    answered(
      'chunks',
      chunked('3\r\nabc\r\n0\r\n\r\n'),
      { status: 200, body: 'abc', framing: 'chunked' },
      { after: 'open' },
    ),
    answered(
      'many chunks',
      chunked(`${'1\r\nx\r\n'.repeat(300)}0\r\n\r\n`),
      { status: 200, body: 'x'.repeat(300) },
      { after: 'open' },
    ),
    answered(
      'chunks with extensions',
      chunked('3;a=b\r\nabc\r\n0;c\r\n\r\n'),
      { status: 200, body: 'abc' },
      { after: 'open' },
    ),
    answered('no content in chunks', chunked('0\r\n\r\n'), { status: 200, body: '' }, { after: 'open' }),
    answered(
      'until close',
      [{ send: 'HTTP/1.1 200 OK\r\n\r\nabc', end: 'close' }],
      { status: 200, body: 'abc' },
      { after: 'open' },
    ),
    answered(
      'until close, of HTTP/1.0',
      [{ send: 'HTTP/1.0 200 OK\r\n\r\nabc', end: 'close' }],
      { status: 200, body: 'abc' },
      { after: 'open' },
    ),
    answered(
      'length, of HTTP/1.0',
      [{ send: 'HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc', end: 'close' }],
      { status: 200, body: 'abc' },
      { after: 'open' },
    ),
    answered(
      'an empty reason phrase',
      'HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok',
      { status: 200, body: 'ok' },
      { after: 'open' },
    ),
    answered(
      'an unknown status',
      'HTTP/1.1 599 Odd\r\nContent-Length: 2\r\n\r\nok',
      { status: 599, body: 'ok' },
      { after: 'open' },
    ),
    answered(
      'an eighth bit in a value',
      'HTTP/1.1 200 OK\r\nX: \xe4\r\nContent-Length: 2\r\n\r\nok',
      { status: 200, has: ['x: \xe4'] },
      { after: 'open' },
    ),
    answered(
      'every byte value',
      `HTTP/1.1 200 OK\r\nContent-Length: 256\r\n\r\n${Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('')}`,
      { status: 200, body: Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('') },
      { after: 'open' },
    ),
    answered(
      '1 MB',
      `HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`,
      { status: 200, body: 'x'.repeat(1_000_000) },
      { after: 'open', inOnePiece: true },
    ),
    answered(
      'delayed content',
      [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc' }, { clientGot: 'abc', send: 'def' }],
      { status: 200, body: 'abcdef' },
      { after: 'open', why: 'available content is sent, not collected' },
    ),
    answered(
      'a head with delayed content',
      [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n' }, { clientGot: '\r\n\r\n', send: 'abc' }],
      { status: 200, body: 'abc' },
      { after: 'open' },
    ),
    answered(
      'delayed chunks',
      [{ send: chunked('3\r\nabc\r\n') }, { clientGot: 'abc', send: '0\r\n\r\n' }],
      { status: 200, body: 'abc' },
      { after: 'open', inOnePiece: true },
    ),
    answered(
      'a redirect is unchanged',
      'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n',
      { status: 302, has: ['location: /x'] },
      { after: 'open' },
    ),
    answered(
      'a kept connection that closed is replaced',
      [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', end: 'close' }],
      { status: 200, body: 'ok' },
      { client: get('/'), after: 'open' },
    ),
  ],
};
