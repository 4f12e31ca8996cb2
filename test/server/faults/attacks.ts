import {
  block,
  data,
  FLAG,
  frame,
  FRAME,
  goaway,
  headers,
  ping,
  PREFACE,
  request,
  reset,
  settings,
  windowUpdate,
} from '../../http2/frames.ts';

/** Attacks on one connection: what is sent, and how it ends. */
export interface Attack {
  readonly to: 'plain' | 'h2' | 'tls' | 'raw_tls' | 'tcp';
  readonly pieces: readonly (string | Buffer)[];
  /** Pauses between the pieces, in ms; without them all pieces are sent in one write. */
  readonly gapMs?: number;
  /** Received data is not read. */
  readonly isDeaf?: boolean;
  readonly end?: 'fin' | 'reset' | 'stay';
  /** Number of consecutive connections. */
  readonly times?: number;
}

const many = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => of(at));
const again = (count: number, bytes: Buffer): Buffer => Buffer.concat(many(count, () => bytes));
const open = (...more: readonly Buffer[]): Buffer => Buffer.concat([PREFACE, settings(), ...more]);
const head = (target: string, ...fields: readonly string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: a.test', ...fields, '', ''].join('\r\n');
const post = (target: string, ...fields: readonly string[]): string =>
  head(target, ...fields).replace('GET', 'POST');
const CHUNKED = 'Transfer-Encoding: chunked';
const odd = (index: number): number => 2 * index + 1;
/** HTTP/2 streams, each with what follows its head. */
const streams = (count: number, of: (id: number) => Buffer): Buffer =>
  Buffer.concat(many(count, (at) => of(odd(at))));
const u32 = (...values: readonly number[]): Buffer =>
  Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    }),
  );
const upload = (id: number, target = '/bad/early'): Buffer =>
  request(id, target, { method: 'POST', endStream: false });
const refusedHead = (id: number): Buffer => request(id, '/bad/x', { more: [['host', 'b.test']] });
const masked = (first: number, payload: Uint8Array, length = payload.length): Buffer =>
  Buffer.concat([Buffer.from([first, 0x80 | length, 0, 0, 0, 0]), payload]);
const upgrade = head(
  '/bytes/x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
);
const PING = masked(0x89, Buffer.alloc(100, 'p'));
const HELLO_HEAD = Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]);

// table: attacks
export const ATTACKS: Readonly<Record<string, Attack>> = {
  // HTTP/1.1: heads
  'a head that comes byte by byte': { to: 'plain', pieces: head('/bad/x').split(''), gapMs: 15, end: 'stay' },
  'a head that never ends': { to: 'plain', pieces: [`GET /bad/x HTTP/1.1\r\nX-A: ${'a'.repeat(1_200_000)}`] },
  'too many fields': { to: 'plain', pieces: [head('/bad/x', ...many(20_000, (at) => `X-${at}: 1`))] },
  'a target without end': { to: 'plain', pieces: [`GET /bad/${'a'.repeat(200_000)}`] },
  'garbage instead of a head': { to: 'plain', pieces: [Buffer.alloc(4_096, 0)] },
  'lines that end with LF only': { to: 'plain', pieces: ['GET /bad/x HTTP/1.1\nHost: a.test\n\n'] },
  'a field that folds': { to: 'plain', pieces: [head('/bad/x', 'X-A: b', ' c')] },
  'half a head, and the end': { to: 'plain', pieces: ['GET /bad/x HTTP/1.1\r\nHost'], end: 'fin' },
  'half a head, and a reset': { to: 'plain', pieces: ['GET /bad/x HTTP/1.1\r\nHost'], end: 'reset' },
  'no byte at all': { to: 'plain', pieces: [], end: 'stay' },
  'no byte, and a reset': { to: 'plain', pieces: [], end: 'reset', times: 20 },
  'CONNECT to another place': {
    to: 'plain',
    pieces: ['CONNECT b.test:25 HTTP/1.1\r\nHost: b.test:25\r\n\r\n'],
  },
  'a length in another spelling': {
    to: 'plain',
    pieces: [post('/bad/x', 'Transfer_Encoding: chunked', 'Content-Length: 5'), '0\r\n\r\n'],
  },
  // HTTP/1.1: content
  'a length and chunks': { to: 'plain', pieces: [post('/bad/x', CHUNKED, 'Content-Length: 5'), '0\r\n\r\n'] },
  'two lengths': {
    to: 'plain',
    pieces: [post('/bad/x', 'Content-Length: 5', 'Content-Length: 6'), 'abcdef'],
  },
  'a body that comes byte by byte': {
    to: 'plain',
    pieces: [post('/echo/x', 'Content-Length: 100'), ...many(30, () => 'a')],
    gapMs: 20,
    end: 'stay',
  },
  'a body that never comes': { to: 'plain', pieces: [post('/echo/x', 'Content-Length: 10')], end: 'stay' },
  'a body that waits to be asked for': {
    to: 'plain',
    pieces: [post('/echo/x', 'Content-Length: 10', 'Expect: 100-continue')],
    end: 'stay',
  },
  'chunks of one byte': {
    to: 'plain',
    pieces: [post('/echo/x', CHUNKED), '1\r\na\r\n'.repeat(20_000), '0\r\n\r\n'],
  },
  'extensions of chunks': {
    to: 'plain',
    pieces: [post('/echo/x', CHUNKED), `1;${'a'.repeat(4_000)}\r\na\r\n`.repeat(50)],
  },
  'a chunk without end': {
    to: 'plain',
    pieces: [post('/echo/x', CHUNKED), 'fffffffffffff\r\n', 'a'.repeat(9_000)],
  },
  'trailers without end': {
    to: 'plain',
    pieces: [post('/echo/x', CHUNKED), '0\r\n', `X-A: ${'a'.repeat(1_000)}\r\n`.repeat(100)],
  },
  'requests in a row that are not read': {
    to: 'plain',
    pieces: [head('/large/x').repeat(200)],
    isDeaf: true,
    end: 'stay',
  },
  'a reader that stalls': {
    to: 'plain',
    pieces: [head('/large/x')],
    isDeaf: true,
    end: 'stay',
    times: 5,
  },
  'a request, and a reset': { to: 'plain', pieces: [head('/large/x')], end: 'reset', times: 10 },
  'a request, and half a close': { to: 'plain', pieces: [head('/large/x')], end: 'fin', times: 5 },
  // upstreams
  ...Object.fromEntries(
    [
      'interim',
      'endless_head',
      'garbage',
      'reset',
      'half',
      'silent',
      'endless_body',
      'early',
      'hint',
    ].flatMap((kind) => [
      [`an upstream: ${kind}`, { to: 'plain', pieces: [head(`/bad/${kind}`)], end: 'stay' } satisfies Attack],
      [
        `an upstream, for an unread stream: ${kind}`,
        { to: 'h2', pieces: [open(request(1, `/bad/${kind}`))], isDeaf: true, end: 'stay' } satisfies Attack,
      ],
    ]),
  ),
  // HTTP/2
  'a refused head and its reset in one write': {
    to: 'h2',
    pieces: [open(streams(30, (id) => Buffer.concat([refusedHead(id), reset(id, 0)])))],
  },
  ...Object.fromEntries(
    [0, 5, 7, 8].map((code) => [
      `rapid reset with code ${code}`,
      {
        to: 'h2',
        pieces: [open(streams(1_000, (id) => Buffer.concat([request(id, '/large/x'), reset(id, code)])))],
      } satisfies Attack,
    ]),
  ),
  'a flood of settings': { to: 'h2', pieces: [open(again(5_000, settings([[4, 65_535]])))], isDeaf: true },
  'a flood of pings': { to: 'h2', pieces: [open(again(20_000, ping()))], isDeaf: true },
  'a flood of empty data': { to: 'h2', pieces: [open(upload(1, '/echo/x'), again(50_000, data(1, '')))] },
  'a flood of windows': { to: 'h2', pieces: [open(upload(1, '/echo/x'), again(50_000, windowUpdate(0, 1)))] },
  'windows beyond all bounds': { to: 'h2', pieces: [open(again(3, windowUpdate(0, 0x7fff_ffff)))] },
  'a window of nothing': { to: 'h2', pieces: [open(windowUpdate(0, 0))] },
  'a flood of priorities': {
    to: 'h2',
    pieces: [open(again(20_000, frame(FRAME.priority, 0, 1, Buffer.concat([u32(3), Buffer.from([1])]))))],
  },
  'a stream that depends on itself': {
    to: 'h2',
    pieces: [open(frame(FRAME.priority, 0, 1, Buffer.concat([u32(1), Buffer.from([1])])))],
  },
  'an endless head': {
    to: 'h2',
    pieces: [
      open(
        frame(FRAME.headers, 0, 1, block([['a', 'b']])),
        again(3_000, frame(FRAME.continuation, 0, 1, block([['x-a', 'b'.repeat(100)]]))),
      ),
    ],
  },
  'a head with empty continuations': {
    to: 'h2',
    pieces: [
      open(frame(FRAME.headers, 0, 1, block([['a', 'b']])), again(20_000, frame(FRAME.continuation, 0, 1))),
    ],
  },
  'a head between a head': { to: 'h2', pieces: [open(frame(FRAME.headers, 0, 1), request(3, '/bad/x'))] },
  'a head that cannot be decoded': {
    to: 'h2',
    pieces: [open(frame(FRAME.headers, FLAG.endHeaders, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])))],
  },
  'streams without a window': {
    to: 'h2',
    pieces: [Buffer.concat([PREFACE, settings([[4, 0]]), streams(120, (id) => request(id, '/large/x'))])],
    end: 'stay',
  },
  'streams whose window opens and closes': {
    to: 'h2',
    pieces: [
      Buffer.concat([PREFACE, settings([[4, 0]]), streams(50, (id) => request(id, '/large/x'))]),
      settings([[4, 1_000_000]]),
      settings([[4, 0]]),
    ],
    gapMs: 5,
    isDeaf: true,
    end: 'stay',
  },
  'more streams than may be': { to: 'h2', pieces: [open(streams(1_000, (id) => upload(id, '/echo/x')))] },
  'more content than the window': {
    to: 'h2',
    pieces: [open(upload(1, '/bad/silent'), again(60, data(1, Buffer.alloc(16_000))))],
  },
  'content for streams that are not there': { to: 'h2', pieces: [open(again(500, data(99, 'x')))] },
  'a reset of a stream that is not there': { to: 'h2', pieces: [open(reset(99, 0))] },
  'a stream of the server': { to: 'h2', pieces: [open(request(2, '/bad/x'))] },
  'a promise of a client': { to: 'h2', pieces: [open(frame(FRAME.push, FLAG.endHeaders, 1, u32(2)))] },
  'kinds of frames that are not known': {
    to: 'h2',
    pieces: [open(again(20_000, frame(99, 0, 0, Buffer.alloc(8))))],
  },
  'a frame that is too long': { to: 'h2', pieces: [open(frame(FRAME.ping, 0, 0, Buffer.alloc(60_000)))] },
  'goodbye and more': { to: 'h2', pieces: [open(goaway(0, 0), request(1, '/bad/x'))] },
  'half a preface': { to: 'h2', pieces: [PREFACE.subarray(0, 20)], end: 'stay' },
  'a preface and garbage': { to: 'h2', pieces: [PREFACE, Buffer.alloc(200, 'A')], gapMs: 2 },
  'uploads that are answered early, and reset': {
    to: 'h2',
    pieces: [
      open(streams(40, (id) => Buffer.concat([upload(id), data(id, 'x')]))),
      streams(40, (id) => reset(id, 0)),
    ],
    gapMs: 4,
  },
  'trailers without end of the stream': {
    to: 'h2',
    pieces: [open(upload(1, '/echo/x'), headers(1, [['x-sum', '1']], false), data(1, 'x', true))],
  },
  // WebSocket
  'pings that are not read': {
    to: 'plain',
    pieces: [upgrade, again(40_000, PING)],
    isDeaf: true,
    end: 'stay',
  },
  'frames without a mask': { to: 'plain', pieces: [upgrade, Buffer.from([0x82, 1, 65])] },
  'a frame that never ends': {
    to: 'plain',
    pieces: [
      upgrade,
      Buffer.from([0x82, 0xff, 0, 0, 127, 255, 255, 255, 255, 255, 0, 0, 0, 0]),
      'a'.repeat(70_000),
    ],
    end: 'stay',
  },
  'a message of endless pieces': {
    to: 'plain',
    pieces: [upgrade, masked(2, Buffer.from('a')), again(5_000, masked(0, Buffer.from('a')))],
  },
  'a close frame whose reason is not text': {
    to: 'plain',
    pieces: [upgrade, masked(0x88, Buffer.from([3, 232, 255, 255]))],
  },
  'an upgrade, and silence': { to: 'plain', pieces: [upgrade], end: 'stay' },
  'an upgrade, and a reset': { to: 'plain', pieces: [upgrade], end: 'reset', times: 10 },
  'bytes that are not read': {
    to: 'plain',
    pieces: [upgrade, again(500, masked(0x82, Buffer.alloc(100)))],
    isDeaf: true,
    end: 'stay',
  },
  // TLS
  'bytes that are not a ClientHello': { to: 'raw_tls', pieces: [Buffer.alloc(500, 'A')] },
  'an incomplete ClientHello': { to: 'raw_tls', pieces: [HELLO_HEAD], end: 'stay' },
  'a hello that comes byte by byte': {
    to: 'raw_tls',
    pieces: many(11, (at) => HELLO_HEAD.subarray(at, at + 1)),
    gapMs: 20,
  },
  'a reset in the hello': { to: 'raw_tls', pieces: [HELLO_HEAD], end: 'reset', times: 10 },
  'HTTP instead of TLS': { to: 'raw_tls', pieces: [head('/bad/x')] },
  'connections that are left': { to: 'tls', pieces: [head('/good1/left')], end: 'fin', times: 20 },
  'early records, and goodbye': { to: 'h2', pieces: [open(goaway(0, 0)), ping(), settings()], times: 10 },
  'early records that are garbage': {
    to: 'h2',
    pieces: [Buffer.alloc(64, 'A'), ping(), settings()],
    times: 10,
  },
  'a slow reader over TLS': { to: 'tls', pieces: [head('/large/x')], isDeaf: true, end: 'stay' },
  // TCP
  'a TCP edge, and silence': { to: 'tcp', pieces: [], end: 'stay', times: 5 },
  'a TCP edge, half open': { to: 'tcp', pieces: ['x'], end: 'fin', times: 5 },
  'a TCP edge, and a reset': { to: 'tcp', pieces: ['x'], end: 'reset', times: 10 },
  'a TCP edge that is not read': { to: 'tcp', pieces: ['a'.repeat(500_000)], isDeaf: true, end: 'stay' },
};
