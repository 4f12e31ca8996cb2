import { describe, expect, test } from 'vitest';
import { isRecurring } from '../../../src/caches/recurring.ts';
import { MORE, REFUSED } from '../../../src/http1/fields.ts';
import { framingOf } from '../../../src/http/framing.ts';
import { WIRE_LIMITS, type WireLimits } from '../../../src/http/message_limits.ts';
import { HEAD, RequestReader } from '../../../src/http1/request_head.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

function read(text: string, limits: Partial<WireLimits> = {}) {
  const reader = new RequestReader({ ...WIRE_LIMITS, ...limits });
  const bytes = bytesOf(text);
  const found = reader.read(bytes, 0, bytes.length);
  return { found, reader };
}

describe('a head', () => {
  test('is returned as received, with its end', () => {
    const head = 'GET /a?b HTTP/1.1\r\nHost: A\r\nX-Y:  v w \r\nx-y:\r\n\r\n';
    const { found, reader } = read(`${head}behind`);
    expect(found).toBe(HEAD);
    expect(reader.end).toBe(head.length);
    expect(reader.head).toEqual({
      method: 'GET',
      target: '/a?b',
      version: '1.1',
      headers: ['Host', 'A', 'X-Y', 'v w', 'x-y', ''],
      lengthBytes: 0,
      keepAlive: true,
      expectsContinue: false,
      takesTrailers: false,
      asksUpgrade: false,
    });
  });

  test.each<[string, string, object]>([
    ['length', 'Content-Length: 007', { lengthBytes: 7 }],
    ['chunks', 'Transfer-Encoding: CHUNKED', { lengthBytes: null }],
    ['close', 'Connection: x, Close', { keepAlive: false }],
    ['close in two lines', 'Connection: x\r\nConnection: close', { keepAlive: false }],
    ['expect', 'Expect: 100-Continue\r\nContent-Length: 1', { expectsContinue: true }],
    ['expect without content', 'Expect: 100-continue', { expectsContinue: false }],
    ['trailers', 'TE: deflate, trailers\r\nConnection: TE', { takesTrailers: true }],
    ['trailers of another hop', 'TE: trailers', { takesTrailers: false }],
    ['upgrade', 'Upgrade: x\r\nConnection: upgrade', { asksUpgrade: true }],
    ['upgrade of another hop', 'Upgrade: x', { asksUpgrade: false }],
  ])('determines for its message: %s', (_name, fields, expected) => {
    expect(read(`POST / HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`).reader.head).toMatchObject(expected);
  });

  test('of HTTP/1.0 ends its connection, unless it asks for keep-alive', () => {
    expect(read('GET / HTTP/1.0\r\n\r\n').reader.head).toMatchObject({ keepAlive: false });
    expect(read('GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n').reader.head).toMatchObject({
      keepAlive: true,
    });
  });

  test('that is the start of a TLS handshake says so', () => {
    const { found, reader } = read('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03');
    expect(found).toBe(REFUSED);
    expect(reader.problem.detail).toBe('this is the start of a TLS handshake, and the port takes plain HTTP');
  });

  test('is the same however it is split, and is scanned a bounded number of times', () => {
    const fields = Array.from({ length: 200 }, (_, index) => `x-${index}: ${'v'.repeat(index)}\r\n`).join('');
    const bytes = bytesOf(`GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\nGET`);
    const whole = new RequestReader(WIRE_LIMITS);
    expect(whole.read(bytes, 0, bytes.length)).toBe(HEAD);
    const reader = new RequestReader(WIRE_LIMITS);
    for (let to = 1; to < whole.end; to++) expect(reader.read(bytes, 0, to)).toBe(MORE);
    expect(reader.read(bytes, 0, bytes.length)).toBe(HEAD);
    expect(reader.head).toEqual(whole.head);
    expect(reader.end).toBe(whole.end);
  });

  test('that arrives byte by byte up to the limit takes linear time', () => {
    const bytes = bytesOf(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(1_000_000)}`);
    const reader = new RequestReader(WIRE_LIMITS);
    const began = performance.now();
    for (let to = 1; to <= bytes.length; to++) reader.read(bytes, 0, to);
    // Quadratic time would take minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe('bytes that cannot become a head', () => {
  test.each([
    ['a control character', '\x16\x03\x01'],
    ['a bare LF', 'GET / HTTP/1.1\nHost'],
    ['a bare CR', 'GET / HTTP/1.1\r\nHost: a\rb'],
    ['a folded line', 'GET / HTTP/1.1\r\nHost: a\r\n b'],
    ['a space before a colon', 'GET / HTTP/1.1\r\nHost : a'],
    ['two spaces', 'GET  / HTTP/1.1\r\n'],
    ['an eighth bit in the target', 'GET /\xe4'],
    ['a method that does not end', 'A'.repeat(40)],
  ])('are refused at once, before the end: %s', (_name, text) => {
    expect(read(text).found).toBe(REFUSED);
  });

  test('are reported as far as they are certain', () => {
    const { reader } = read('POST /pay?x HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n');
    expect(reader.problem).toMatchObject({ code: 'framing' });
    expect(reader.partial).toMatchObject({ method: 'POST', target: '/pay?x', version: '1.1' });
  });
});

describe('each limit has a code', () => {
  const long = 'x'.repeat(500);
  test.each<[string, Partial<WireLimits>, string, string]>([
    ['of a whole head', { headBytes: 100 }, `GET / HTTP/1.1\r\nX: ${long}\r\n\r\n`, 'head_too_large'],
    ['of one that does not end', { headBytes: 100 }, `GET / HTTP/1.1\r\nX: ${long}`, 'head_too_large'],
    ['of fields', { fields: 3 }, `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(4)}\r\n`, 'head_too_large'],
    ['of the target', { targetBytes: 100 }, `GET /${long} HTTP/1.1\r\n\r\n`, 'target_too_long'],
    ['of a target that does not end', { targetBytes: 100 }, `GET /${long}`, 'target_too_long'],
  ])('%s', (_name, limits, text, code) => {
    const { found, reader } = read(text, limits);
    expect([found, reader.problem.code]).toEqual([REFUSED, code]);
  });
});

test('framing is determined by the fields alone, or refused', () => {
  const none = { lengths: 0, length: '', codings: 0, coding: '' };
  const length = (text: string) => ({ ...none, lengths: 1, length: text });
  const coding = (text: string) => ({ ...none, codings: 1, coding: text });
  const cases: [object, '1.0' | '1.1', unknown][] = [
    [none, '1.1', 0],
    [length('5'), '1.0', 5],
    [length('007'), '1.1', 7],
    [length('999999999999999'), '1.1', 999_999_999_999_999],
    [length('9999999999999999'), '1.1', { code: 'framing' }],
    [length('1 '), '1.1', { code: 'framing' }],
    [length(''), '1.1', { code: 'framing' }],
    [length('\uff11'), '1.1', { code: 'framing' }],
    [{ ...length('1'), lengths: 2 }, '1.1', { code: 'framing' }],
    [coding('Chunked'), '1.1', -1],
    [coding('chunked\t'), '1.1', { code: 'framing' }],
    [coding(',chunked'), '1.1', { code: 'transfer_coding' }],
    [coding('gzip, chunked'), '1.1', { code: 'transfer_coding' }],
    [coding('chunked, chunked'), '1.1', { code: 'framing' }],
    [coding('chunked'), '1.0', { code: 'framing' }],
    [{ ...coding('chunked'), codings: 2 }, '1.1', { code: 'framing' }],
    [{ ...coding('chunked'), lengths: 1, length: '1' }, '1.1', { code: 'framing' }],
  ];
  for (const [fields, version, expected] of cases) {
    const found = framingOf(fields as typeof none, version, 0);
    const wanted = typeof expected === 'number' ? expected : expect.objectContaining(expected as object);
    expect([version, fields, found]).toEqual([version, fields, wanted]);
  }
});

describe('heads of one connection', () => {
  const reader = new RequestReader(WIRE_LIMITS);
  const fieldsOf = (agent: string) => {
    const bytes = bytesOf(`GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: ${agent}\r\n\r\n`);
    expect(reader.read(bytes, 0, bytes.length)).toBe(HEAD);
    return reader.takeHead().headers;
  };

  test('have one list while their bytes are the same, and it recurs', () => {
    const first = fieldsOf('a');
    expect(isRecurring(first)).toBe(false);
    expect([fieldsOf('a'), fieldsOf('a')]).toEqual([first, first]);
    expect(fieldsOf('a')).toBe(first);
    expect(isRecurring(first)).toBe(true);
  });

  test('are read again while they differ, and compared again later', () => {
    for (let turn = 0; turn < 10; turn++)
      expect(fieldsOf(`x${turn}`)).toEqual(['Host', 'a', 'User-Agent', `x${turn}`]);
    const lists = Array.from({ length: 130 }, () => fieldsOf('last'));
    for (const list of lists) expect(list).toEqual(['Host', 'a', 'User-Agent', 'last']);
    expect(isRecurring(lists[0]!)).toBe(false);
    expect(lists.at(-1)).toBe(lists.at(-2));
    expect(isRecurring(lists.at(-1)!)).toBe(true);
  });
});
