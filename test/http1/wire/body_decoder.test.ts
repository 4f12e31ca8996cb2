import { describe, expect, test } from 'vitest';
import { BodyDecoder, DATA, END } from '../../../src/http1/body_decoder.ts';
import { MORE, REFUSED } from '../../../src/http1/fields.ts';
import { CHUNKED, UNTIL_CLOSE } from '../../../src/http/framing.ts';
import { ReadBuffer } from '../../../src/io/read_buffer.ts';
import { WIRE_LIMITS, type WireLimits } from '../../../src/http/message_limits.ts';

/** Decodes content from pieces; leaves the bytes after it. */
function read(framing: number, pieces: readonly string[], limits: Partial<WireLimits> = {}) {
  const content = new BodyDecoder({ ...WIRE_LIMITS, ...limits });
  content.begin(framing);
  let body = '';
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1');
    for (let at = 0; ;) {
      const found = content.next(bytes, at, bytes.length);
      at = content.at;
      if (found === DATA) body += bytes.toString('latin1', content.dataFrom, content.dataTo);
      else if (found === MORE) break;
      else {
        const left = piece.slice(at);
        return {
          body,
          found,
          left,
          trailers: content.trailers,
          problem: content.problem.detail,
          code: content.problem.code,
        };
      }
    }
  }
  return { body, found: MORE, left: '', trailers: [], problem: '', code: null };
}

const CHUNKS = '3\r\nabc\r\n1;x="\\"";y\r\n!\r\n0\r\nX-T: 1 \r\ny:\r\n\r\nbehind';

describe('chunks', () => {
  test('are decoded however they are split; extensions are dropped, trailers kept separate', () => {
    const expected = { body: 'abc!', found: END, trailers: ['X-T', '1', 'y', ''] };
    expect(read(CHUNKED, [CHUNKS])).toMatchObject({ ...expected, left: 'behind' });
    expect(read(CHUNKED, CHUNKS.split(''))).toMatchObject(expected);
    for (let at = 1; at < CHUNKS.length; at++) {
      expect(read(CHUNKED, [CHUNKS.slice(0, at), CHUNKS.slice(at)])).toMatchObject(expected);
    }
  });

  test.each([
    [
      'extensions',
      { extensionBytes: 20 },
      `1;${'x'.repeat(12)}\r\na\r\n1;${'x'.repeat(12)}\r\na\r\n0\r\n\r\n`,
    ],
    ['trailers', { trailerBytes: 20 }, `0\r\nX: ${'y'.repeat(30)}\r\n\r\n`],
    ['trailers that do not end', { trailerBytes: 20 }, `0\r\nX: ${'y'.repeat(30)}`],
  ])('have limits for all of them together: %s', (name, limits, text) => {
    for (const pieces of [[text], text.split('')]) {
      const { found, problem, code } = read(CHUNKED, pieces, limits);
      expect([found, /longer than the limit/.test(problem)]).toEqual([REFUSED, true]);
      expect(code).toBe(`${name.split(' ')[0]!}_too_large`);
    }
  });

  test.each([
    'Content-Length: 1',
    'transfer-encoding: chunked',
    'Connection: close',
    'X : 1',
    ' X: 1',
    'X: a\nY: b',
    'X',
  ])('are refused with a trailer such as %j', (line) => {
    expect(read(CHUNKED, [`0\r\n${line}\r\n\r\n`]).found).toBe(REFUSED);
    expect(read(CHUNKED, `0\r\n${line}\r\n\r\n`.split('')).found).toBe(REFUSED);
  });

  test('with exact sizes are accepted, others refused', () => {
    expect(read(CHUNKED, ['0000000000000001\r\na']).body).toBe('a');
    expect(read(CHUNKED, ['1fffffffffffff\r\na']).body).toBe('a');
    expect(read(CHUNKED, ['20000000000000\r\na']).found).toBe(REFUSED);
    expect(read(CHUNKED, ['00000000000000001\r\na']).found).toBe(REFUSED);
  });
});

test('content with a length ends there, content without one with its connection', () => {
  expect(read(3, ['a', 'bcd'])).toMatchObject({ body: 'abc', found: END, left: 'd' });
  expect(read(0, ['x'])).toMatchObject({ body: '', found: END, left: 'x' });
  const content = new BodyDecoder(WIRE_LIMITS);
  content.begin(UNTIL_CLOSE);
  content.next(Buffer.from('x'), 0, 1);
  const next = () => content.next(Buffer.from('x'), 1, 1);
  expect([next(), content.endsByClose(), next()]).toEqual([MORE, true, END]);
  content.begin(3);
  expect(content.endsByClose()).toBe(false);
});

describe('a read buffer', () => {
  test('copies only bytes that must be kept', () => {
    const input = new ReadBuffer();
    const lent = Buffer.from('abcdef');
    input.add(lent, 0, 4);
    expect(input.bytes).toBe(lent);
    input.from = 2;
    input.keep();
    lent.fill(0);
    expect(input.bytes.toString('latin1', input.from, input.to)).toBe('cd');
    input.add(Buffer.from('ef'));
    expect(input.bytes.toString('latin1', input.from, input.to)).toBe('cdef');
    input.from = input.to;
    input.keep();
    expect(input.bytes.length).toBe(0);
  });

  test('takes a megabyte byte by byte without copying it each time', () => {
    const input = new ReadBuffer();
    const began = performance.now();
    for (let count = 0; count < 1_000_000; count++) {
      input.add(Buffer.from([count & 0xff]));
      input.keep();
    }
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(input.length).toBe(1_000_000);
    expect(input.bytes[input.from + 999_999]).toBe(999_999 & 0xff);
  });
});
