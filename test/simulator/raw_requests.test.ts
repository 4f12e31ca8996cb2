import { describe, expect, it, test } from 'vitest';
import { REFUSALS } from '../../src/engine/refusals.ts';
import { readRequestHead } from '../../src/engine/request_head.ts';
import { WIRE_LIMITS } from '../../src/http/message_limits.ts';
import { HEAD, RequestReader } from '../../src/http1/request_head.ts';
import { readRawRequest } from '../../src/simulator/document/raw_request.ts';
import { runValue } from './scenario.ts';

const LINE = 'POST /a HTTP/1.1\r\nHost: a.test\r\n';

// table: texts of requests, and why each is refused
const REQUESTS: readonly (readonly [text: string, refused: string])[] = [
  [`${LINE}\r\n`, ''],
  [`\r\n${LINE}\r\n`, ''],
  [`${LINE}Content-Length: 4\r\n\r\nbody`, ''],
  [`${LINE}Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`, ''],
  [`${LINE}Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx`, ''],
  [`${LINE}X: a\tb \u00fc \u20ac\r\n\r\n`, ''],
  ['GET /a HTTP/1.0\r\n\r\n', ''],
  [`${LINE}Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody`, 'request.malformed'],
  [`${LINE}Content-Length: 4, 4\r\n\r\nbody`, 'request.malformed'],
  [`${LINE}Content-Length: +4\r\n\r\nbody`, 'request.malformed'],
  [`${LINE}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 'request.malformed'],
  [`${LINE}Transfer-Encoding: gzip\r\n\r\n`, 'request.malformed'],
  [`${LINE}Transfer-Encoding: gzip, chunked\r\n\r\n`, 'request.not_implemented'],
  [`${LINE}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 'request.malformed'],
  ['POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'request.malformed'],
  [`${LINE}Expect: more\r\n\r\n`, 'request.expectation'],
  [`${LINE}Expect:\r\n\r\n`, 'request.expectation'],
  [`${LINE}X: a\u0001\r\n\r\n`, 'request.malformed'],
  [`${LINE}X: a\u007f\r\n\r\n`, 'request.malformed'],
  [`${LINE} folded\r\n\r\n`, 'request.malformed'],
  [`${LINE}X : a\r\n\r\n`, 'request.malformed'],
  [`${LINE}Host: b.test\r\n\r\n`, 'request.malformed'],
  [`${LINE}X: ${'x'.repeat(WIRE_LIMITS.headBytes)}\r\n\r\n`, 'request.head_too_large'],
  [`${LINE}${'X: 1\r\n'.repeat(WIRE_LIMITS.fields)}\r\n`, 'request.head_too_large'],
  [`GET /${'a'.repeat(WIRE_LIMITS.targetBytes)} HTTP/1.1\r\nHost: a.test\r\n\r\n`, 'request.target_too_long'],
  ['GET / HTTP/2.0\r\n\r\n', 'request.version'],
  ['GET / HTTP/0.9\r\n\r\n', 'request.version'],
  ['GET /\r\n\r\n', 'request.version'],
  ['GET / HTTP/1.3\r\nHost: a.test\r\n\r\n', 'request.malformed'],
  ['GET  / HTTP/1.1\r\nHost: a.test\r\n\r\n', 'request.malformed'],
  ['FOO / HTTP/1.1\r\nHost: a.test\r\n\r\n', 'request.method'],
  ['GET / HTTP/1.1\r\n\r\n', 'request.malformed'],
];

function refusedByListener(text: string): string {
  const reader = new RequestReader(WIRE_LIMITS);
  const bytes = Buffer.from(text);
  if (reader.read(bytes, 0, bytes.length) !== HEAD) return REFUSALS[reader.problem.code];
  const head = readRequestHead({ ...reader.takeHead(), scheme: 'http' });
  return 'refused' in head ? head.refused : '';
}

function refusedBySimulator(text: string): string {
  const { head } = readRawRequest(text, 'http');
  return 'refused' in head ? head.refused : '';
}

describe('bytes of a request', () => {
  it.each(REQUESTS.map(([text, refused]) => [text.slice(0, 80), refused, text] as const))(
    '%j is %j',
    (_shown, refused, text) => {
      expect(refusedBySimulator(text)).toBe(refused);
      expect(refusedByListener(text)).toBe(refused);
    },
  );

  test('with LF as line breaks are the same', () => {
    for (const [text, refused] of REQUESTS)
      expect(refusedBySimulator(text.replaceAll('\r\n', '\n'))).toBe(refused);
  });

  test('have the body that their length says, or all that follows', () => {
    const bodyOf = (text: string) => Buffer.from(readRawRequest(text, 'http').body).toString();
    expect(bodyOf(`${LINE}Content-Length: 2\r\n\r\nbody`)).toBe('bo');
    expect(bodyOf(`${LINE}\r\nbody`)).toBe('body');
  });

  test('that two servers could read differently are refused in a case', () => {
    const raw = `${LINE}Content-Length: 4\r\nContent-Length: 40\r\n\r\nbody`;
    const result = runValue({ cases: [{ name: 'two lengths', raw, expect: { status: 400 } }] });
    expect(result.cases.map(({ status }) => status)).toEqual(['passed']);
  });
});
