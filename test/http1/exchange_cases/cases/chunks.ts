import { type CaseGroup, type ExchangeCase, passed, post } from '../case.ts';

const TE = 'Transfer-Encoding: chunked\r\n';
const chunked = (body: string): string => post(TE, body);
const inChunks = (
  name: string,
  body: string,
  content: string,
  more: Partial<ExchangeCase> = {},
): ExchangeCase => passed(name, chunked(body), { line: 'POST / HTTP/1.1', body: content }, more);

/** Invalid content: refused before a response has begun, and the upstream must not take it for complete. */
const broken = (name: string, body: string, more: Partial<ExchangeCase> = {}): ExchangeCase => ({
  name,
  client: chunked(body),
  gets: [{ status: 400 }],
  after: 'closed',
  forwards: [],
  partial: true,
  events: [[400, 'upstream.body_malformed']],
  ...more,
});

/** Chunked request content. */
// table: cases
export const CHUNKS: CaseGroup = {
  title: 'Chunked requests',
  why: 'RFC 9112 §7.1: a size consists of hex digits only, a line ends in CRLF; extensions are dropped (§7.1.1)',
  cases: [
    inChunks('one chunk', '3\r\nabc\r\n0\r\n\r\n', 'abc'),
    inChunks('three chunks', '1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n', 'abc'),
    inChunks('no content', '0\r\n\r\n', ''),
    inChunks('leading zeros in a size', '0003\r\nabc\r\n000\r\n\r\n', 'abc'),
    inChunks(
      'hex size in both cases',
      `a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n`,
      '01234567890123456789',
    ),
    inChunks('content with CRLF and a last chunk in it', '7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n', '\r\n0\r\n\r\n'),
    inChunks('an extension', '3;a=b\r\nabc\r\n0;c\r\n\r\n', 'abc'),
    inChunks('a quoted extension', '3;a="b;c"\r\nabc\r\n0\r\n\r\n', 'abc'),
    inChunks(
      '64 kB in chunks of 1 kB',
      `${`400\r\n${'x'.repeat(1_024)}\r\n`.repeat(64)}0\r\n\r\n`,
      'x'.repeat(65_536),
    ),
    broken('a size that is not a number', 'zz\r\nabc\r\n0\r\n\r\n'),
    broken('a size with a prefix', '0x3\r\nabc\r\n0\r\n\r\n'),
    broken('a negative size', '-3\r\nabc\r\n0\r\n\r\n'),
    broken('a size with a plus', '+3\r\nabc\r\n0\r\n\r\n'),
    broken('space before a size', ' 3\r\nabc\r\n0\r\n\r\n'),
    broken('space after a size', '3 \r\nabc\r\n0\r\n\r\n'),
    broken('no size', '\r\nabc\r\n0\r\n\r\n'),
    broken('a size of 17 digits', '10000000000000003\r\nabc\r\n0\r\n\r\n'),
    broken('bare LF after a size', '3\nabc\r\n0\r\n\r\n'),
    broken('bare CR after a size', '3\rabc\r\n0\r\n\r\n'),
    broken('bare LF after a chunk', '3\r\nabc\n0\r\n\r\n'),
    broken('bare LF after an extension', '3;a\nabc\r\n0\r\n\r\n'),
    broken('content longer than its size', '3\r\nabcd\r\n0\r\n\r\n'),
    broken('no CRLF after the content', '3\r\nabc0\r\n\r\n'),
    broken('bare LF at the end', '3\r\nabc\r\n0\r\n\n'),
    broken('NUL in an extension', '3;a\0\r\nabc\r\n0\r\n\r\n'),
  ],
};
