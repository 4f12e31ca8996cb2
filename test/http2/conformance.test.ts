import fc from 'fast-check';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { ERROR } from '../../src/http2/error_codes.ts';
import { CONCURRENT_STREAMS, RESETS } from '../../src/http2/limits.ts';
import type { Listening } from '../../src/listening.ts';
import { runs } from '../random.ts';
import {
  block,
  data,
  FLAG,
  FRAME,
  type Frame,
  frame,
  frameReader,
  goaway,
  headers,
  ping,
  PREFACE,
  request,
  reset,
  settings,
  SETTINGS_ACK,
  windowUpdate,
} from './frames.ts';

/** Frames of a client that breaks rules of RFC 9113, and what follows: the sections name the tests of h2spec, too. */

const upload = (stream: number, more: readonly (readonly [string, string])[] = []): Buffer =>
  request(stream, '/echo', { method: 'POST', endStream: false, more });
const get = (stream: number): Buffer => request(stream, '/1');
const upgrade = (stream: number): Buffer =>
  request(stream, '/never', { method: 'CONNECT', endStream: false, more: [[':protocol', 'websocket']] });
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const head = (fields: readonly (readonly [string, string])[]): Buffer => headers(1, fields);
const PSEUDO = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/1'],
] as const;

/** What ends: the connection, or stream 1 (`status` if it has a response before), or nothing. */
type Outcome =
  | { readonly goaway: number }
  | { readonly reset: number; readonly status?: string }
  | { readonly status: string };

const C = (goaway_: keyof typeof ERROR): Outcome => ({ goaway: ERROR[goaway_] });
const S = (code: keyof typeof ERROR): Outcome => ({ reset: ERROR[code] });
const MALFORMED: Outcome = { reset: ERROR.PROTOCOL_ERROR, status: '400' };
const SERVED: Outcome = { status: '200' };

// table: section, what the client sends after its preface and settings, and what follows
const CASES: readonly (readonly [name: string, bytes: Buffer | readonly Buffer[], outcome: Outcome])[] = [
  ['4.1 a frame of an unknown type is ignored', [frame(0x16, 0, 0, Buffer.alloc(8)), get(1)], SERVED],
  ['4.1 undefined flags are ignored', [frame(FRAME.ping, 0xfe, 0, Buffer.alloc(8)), get(1)], SERVED],
  [
    '4.1 the reserved bit of a stream id is ignored',
    frame(FRAME.headers, 5, 0x8000_0001, block(PSEUDO)),
    SERVED,
  ],
  ['4.2 DATA of the maximum length', [upload(1), data(1, Buffer.alloc(16_384), true)], SERVED],
  [
    '4.2 a frame over the maximum length',
    [upload(1), data(1, Buffer.alloc(16_385), true)],
    C('FRAME_SIZE_ERROR'),
  ],
  ['4.3 an invalid header block', frame(FRAME.headers, 5, 1, Buffer.from([0x80])), C('COMPRESSION_ERROR')],
  [
    '4.3 a header block that is interrupted',
    [frame(FRAME.headers, 1, 1, block(PSEUDO)), ping()],
    C('PROTOCOL_ERROR'),
  ],
  ['5.1 DATA on an idle stream', data(1, 'x', true), C('PROTOCOL_ERROR')],
  ['5.1 RST_STREAM on an idle stream', reset(1, 8), C('PROTOCOL_ERROR')],
  ['5.1 WINDOW_UPDATE on an idle stream', windowUpdate(1, 100), C('PROTOCOL_ERROR')],
  ['5.1 CONTINUATION on an idle stream', frame(FRAME.continuation, 4, 1, block(PSEUDO)), C('PROTOCOL_ERROR')],
  ['5.1 DATA after END_STREAM', [request(1, '/never'), data(1, 'x', true)], S('STREAM_CLOSED')],
  ['5.1 HEADERS after END_STREAM', [request(1, '/never'), request(1, '/never')], S('STREAM_CLOSED')],
  [
    '5.1 DATA on a stream that the client has reset',
    [upload(1), reset(1, 8), data(1, 'x')],
    C('STREAM_CLOSED'),
  ],
  ['5.1 HEADERS on a stream that the client has reset', [upload(1), reset(1, 8), get(1)], C('STREAM_CLOSED')],
  ['5.1.1 an even stream id', get(2), C('PROTOCOL_ERROR')],
  ['5.1.1 a lower stream id than before', [request(5, '/never'), get(3)], C('STREAM_CLOSED')],
  ['6.1 DATA on stream 0', data(0, 'x'), C('PROTOCOL_ERROR')],
  [
    '6.1 padding that is longer than its frame',
    [upload(1), frame(FRAME.data, FLAG.endStream | 8, 1, Buffer.from([6, 1, 2, 3, 4, 5]))],
    C('PROTOCOL_ERROR'),
  ],
  [
    '6.1 padded DATA',
    [upload(1), frame(FRAME.data, FLAG.endStream | 8, 1, Buffer.from([2, 65, 0, 0]))],
    SERVED,
  ],
  ['6.2 HEADERS on stream 0', headers(0, PSEUDO), C('PROTOCOL_ERROR')],
  [
    '6.2 padding that is longer than HEADERS',
    frame(FRAME.headers, 0xd, 1, Buffer.from([9, 0x82])),
    C('PROTOCOL_ERROR'),
  ],
  ['6.3 PRIORITY on stream 0', frame(FRAME.priority, 0, 0, Buffer.alloc(5)), C('PROTOCOL_ERROR')],
  ['6.3 PRIORITY of another length', frame(FRAME.priority, 0, 1, Buffer.alloc(4)), C('FRAME_SIZE_ERROR')],
  [
    '6.4 RST_STREAM of another length',
    [upload(1), frame(FRAME.reset, 0, 1, Buffer.alloc(3))],
    C('FRAME_SIZE_ERROR'),
  ],
  ['6.5 SETTINGS on a stream', frame(FRAME.settings, 0, 1), C('PROTOCOL_ERROR')],
  ['6.5 SETTINGS of another length', frame(FRAME.settings, 0, 0, Buffer.alloc(3)), C('FRAME_SIZE_ERROR')],
  [
    '6.5 acknowledged SETTINGS with a payload',
    frame(FRAME.settings, 1, 0, Buffer.alloc(6)),
    C('FRAME_SIZE_ERROR'),
  ],
  ['6.5.2 SETTINGS_ENABLE_PUSH of 2', settings([[2, 2]]), C('PROTOCOL_ERROR')],
  ['6.5.2 an initial window of 2^31', settings([[4, 0x8000_0000]]), C('FLOW_CONTROL_ERROR')],
  ['6.5.2 a frame size below the minimum', settings([[5, 16_383]]), C('PROTOCOL_ERROR')],
  ['6.5.2 a frame size above the maximum', settings([[5, 16_777_216]]), C('PROTOCOL_ERROR')],
  [
    '6.5 SETTINGS with 1,000 settings',
    settings(Array.from({ length: 1_000 }, () => [4, 0])),
    C('ENHANCE_YOUR_CALM'),
  ],
  ['6.5.2 an unknown setting is ignored', [settings([[0xff, 1]]), get(1)], SERVED],
  ['6.6 PUSH_PROMISE from a client', [upload(1), frame(FRAME.push, 4, 1, u32(2))], C('PROTOCOL_ERROR')],
  ['6.7 PING on a stream', frame(FRAME.ping, 0, 1, Buffer.alloc(8)), C('PROTOCOL_ERROR')],
  ['6.7 PING of another length', frame(FRAME.ping, 0, 0, Buffer.alloc(7)), C('FRAME_SIZE_ERROR')],
  ['6.8 GOAWAY on a stream', frame(FRAME.goaway, 0, 1, Buffer.alloc(8)), C('PROTOCOL_ERROR')],
  ['6.8 a stream before GOAWAY is served', [get(1), goaway(0, 0)], SERVED],
  ['6.9 WINDOW_UPDATE of 0 on the connection', windowUpdate(0, 0), C('PROTOCOL_ERROR')],
  ['6.9 WINDOW_UPDATE of 0 on a stream', [upload(1), windowUpdate(1, 0)], S('PROTOCOL_ERROR')],
  ['6.9 WINDOW_UPDATE of another length', frame(FRAME.window, 0, 0, Buffer.alloc(3)), C('FRAME_SIZE_ERROR')],
  ['6.9.1 a connection window over 2^31-1', windowUpdate(0, 0x7fff_ffff), C('FLOW_CONTROL_ERROR')],
  ['6.9.1 a stream window over 2^31-1', [upload(1), windowUpdate(1, 0x7fff_ffff)], S('FLOW_CONTROL_ERROR')],
  [
    '6.9.1 more content than the window allows',
    [
      request(1, '/never', { method: 'POST', endStream: false }),
      ...Array.from({ length: 5 }, () => data(1, Buffer.alloc(16_384))),
    ],
    S('FLOW_CONTROL_ERROR'),
  ],
  [
    '6.10 CONTINUATION without HEADERS',
    [get(1), frame(FRAME.continuation, 4, 1, block(PSEUDO))],
    C('PROTOCOL_ERROR'),
  ],
  [
    '6.10 CONTINUATION of another stream',
    [frame(FRAME.headers, 1, 1, block(PSEUDO)), frame(FRAME.continuation, 4, 3)],
    C('PROTOCOL_ERROR'),
  ],
  [
    'a header block of too many frames',
    [frame(FRAME.headers, 1, 1), ...Array.from({ length: 70 }, () => frame(FRAME.continuation, 0, 1))],
    C('ENHANCE_YOUR_CALM'),
  ],
  [
    'a header block that is too long',
    [
      frame(FRAME.headers, 1, 1),
      ...Array.from({ length: 17 }, () => frame(FRAME.continuation, 0, 1, Buffer.alloc(16_384))),
    ],
    C('ENHANCE_YOUR_CALM'),
  ],
  [
    '8.1 trailers that do not end the stream',
    [upload(1), headers(1, [['x', 'y']], false)],
    S('PROTOCOL_ERROR'),
  ],
  ['8.1 trailers', [upload(1), data(1, 'x'), headers(1, [['x', 'y']])], SERVED],
  ['8.2.1 an upper-case name', head([...PSEUDO, ['X-A', 'b']]), MALFORMED],
  ['8.2.1 a name that is not a token', head([...PSEUDO, ['x a', 'b']]), MALFORMED],
  ['8.2.1 a line break in a value', head([...PSEUDO, ['x-a', 'a\r\nb: c']]), MALFORMED],
  ['8.2.1 white space around a value', head([...PSEUDO, ['x-a', ' b']]), MALFORMED],
  ['8.2.2 a connection field', head([...PSEUDO, ['connection', 'keep-alive']]), MALFORMED],
  ['8.2.2 te with another value', head([...PSEUDO, ['te', 'gzip']]), MALFORMED],
  ['8.3 an unknown pseudo-header', head([...PSEUDO, [':x', 'b']]), MALFORMED],
  ['8.3 a pseudo-header of responses', head([...PSEUDO, [':status', '200']]), MALFORMED],
  [
    '10.5 extended CONNECTs that are reset before their responses',
    Array.from({ length: RESETS + 1 }, (_, at) => Buffer.concat([upgrade(2 * at + 1), reset(2 * at + 1, 8)])),
    C('ENHANCE_YOUR_CALM'),
  ],
  ['8.3 a pseudo-header after a field', head([['x-a', 'b'], ...PSEUDO]), MALFORMED],
  ['8.3 a pseudo-header in trailers', [upload(1), headers(1, [[':path', '/']])], S('PROTOCOL_ERROR')],
  ['8.3.1 an empty :path', head([...PSEUDO.slice(0, 3), [':path', '']]), MALFORMED],
  ['8.3.1 no :method', head(PSEUDO.slice(1)), MALFORMED],
  ['8.3.1 no :scheme', head([PSEUDO[0], ...PSEUDO.slice(2)]), MALFORMED],
  ['8.3.1 no :path', head(PSEUDO.slice(0, 3)), MALFORMED],
  ['8.3.1 two :method', head([[':method', 'POST'], ...PSEUDO]), MALFORMED],
  ['8.1.1 less content than declared', [upload(1, [['content-length', '2']]), data(1, 'x', true)], MALFORMED],
  [
    '8.1.1 more content than declared',
    [upload(1, [['content-length', '1']]), data(1, 'xy', true)],
    MALFORMED,
  ],
  ['8.1.1 declared content that does not come', head([...PSEUDO, ['content-length', '1']]), MALFORMED],
  [
    '8.1.1 two lengths',
    [
      upload(1, [
        ['content-length', '1'],
        ['content-length', '1'],
      ]),
      data(1, 'x', true),
    ],
    MALFORMED,
  ],
];

describe('HTTP/2 as RFC 9113 has it', () => {
  let listening: Listening;
  const upstream = createServer((incoming, response) => {
    if (incoming.url === '/never') return;
    const bytes = Number(incoming.url!.slice(1));
    incoming.resume().once('end', () => response.end(bytes > 0 ? pattern(bytes) : 'ok'));
  });

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
    const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const edge = createEdge({
      backends: { app: { static: { address } } },
      edges: { https: { a: { hostports: ['a.test:443'], routes } } },
    });
    listening = await edge.listen();
  });
  afterAll(async () => {
    await listening.close(0);
    upstream.closeAllConnections();
    upstream.close();
  });

  function open(): { socket: Socket; frames: Frame[] } {
    const socket = connect(listening.port, '127.0.0.1');
    const frames: Frame[] = [];
    socket
      .on('error', () => undefined)
      .on(
        'data',
        frameReader((each) => void frames.push(each)),
      );
    return { socket, frames };
  }

  it.each(CASES)('%s', async (_name, bytes, outcome) => {
    const { socket, frames } = open();
    const all = Buffer.isBuffer(bytes) ? [bytes] : bytes;
    socket.write(Buffer.concat([PREFACE, settings(), SETTINGS_ACK, ...all]));
    const seen = (): Outcome => {
      const goaway_ = frames.find(({ type }) => type === FRAME.goaway);
      const reset_ = frames.find(({ type, stream }) => type === FRAME.reset && stream === 1);
      const first = frames.find(({ type, stream }) => type === FRAME.headers && stream === 1);
      const status = first === undefined ? undefined : statusOf(first.payload);
      if (goaway_ !== undefined && goaway_.payload.readUInt32BE(4) !== 0)
        return { goaway: goaway_.payload.readUInt32BE(4) };
      if (reset_ === undefined) return { status: status! };
      return { reset: reset_.payload.readUInt32BE(0), ...(status !== undefined && { status }) };
    };
    await expect.poll(seen).toEqual(outcome);
    if ('goaway' in outcome) await expect.poll(() => socket.readableEnded).toBe(true);
    socket.destroy();
  });

  it(`a client has at most ${CONCURRENT_STREAMS} streams at once: the next one is refused, until one ends`, async () => {
    const { socket, frames } = open();
    const ids = Array.from({ length: CONCURRENT_STREAMS + 1 }, (_, at) => 2 * at + 1);
    socket.write(Buffer.concat([PREFACE, settings(), ...ids.map((id) => request(id, '/never'))]));
    const resets = () => frames.filter(({ type }) => type === FRAME.reset);
    await expect.poll(() => resets().length).toBe(1);
    expect([resets()[0]!.stream, resets()[0]!.payload.readUInt32BE(0)]).toEqual([
      ids.at(-1),
      ERROR.REFUSED_STREAM,
    ]);
    const next = ids.at(-1)! + 2;
    socket.write(Buffer.concat([reset(1, 8), request(next, '/1')]));
    await expect
      .poll(() => frames.some(({ type, stream }) => type === FRAME.headers && stream === next))
      .toBe(true);
    expect(resets().length).toBe(1);
    socket.destroy();
  });

  it('content is whole whatever the windows are, however the bytes are split, and whichever streams are reset', async () => {
    const stream = fc.record({ bytes: fc.integer({ min: 1, max: 90_000 }), isReset: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(stream, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1_000, max: 100_000 }),
        fc.integer({ min: 8, max: 4_000 }),
        async (streams, windowBytes, piece) => {
          const socket = connect(listening.port, '127.0.0.1').on('error', () => undefined);
          const got = streams.map(() => [] as Buffer[]);
          const ended = new Set<number>();
          const read = frameReader(({ type, flags, stream: id, payload }) => {
            const at = (id - 1) / 2;
            if (type === FRAME.data && payload.length > 0) {
              got[at]!.push(payload);
              socket.write(windowUpdate(0, payload.length));
              if (streams[at]!.isReset) {
                if (!ended.has(at)) socket.write(reset(id, 8));
                ended.add(at);
              } else if ((flags & FLAG.endStream) === 0) socket.write(windowUpdate(id, payload.length));
            }
            if ((type === FRAME.data || type === FRAME.headers) && (flags & FLAG.endStream) !== 0)
              ended.add(at);
          });
          socket.on('data', read);
          const bytes = Buffer.concat([
            PREFACE,
            settings([[4, windowBytes]]),
            ...streams.map(({ bytes: count }, at) => request(2 * at + 1, `/${count}`)),
          ]);
          for (let at = 0; at < bytes.length; at += piece) {
            socket.write(bytes.subarray(at, at + piece));
            if (at < 10 * piece) await new Promise((resolve) => void setImmediate(resolve));
          }
          await expect.poll(() => ended.size, { timeout: 20_000 }).toBe(streams.length);
          socket.destroy();
          streams.forEach(({ bytes: count, isReset }, at) => {
            const all = Buffer.concat(got[at]!);
            expect(all.equals(pattern(count).subarray(0, isReset ? all.length : count))).toBe(true);
          });
        },
      ),
      { numRuns: runs(400, 8) },
    );
  });
});

/** Content that differs at each place and for each length. */
function pattern(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = (at * 31 + (at >> 8) * 7 + length) & 255;
  return bytes;
}

/** The status of a head that begins with an indexed field or a literal. */
function statusOf(payload: Buffer): string {
  const indexed = ['200', '204', '206', '304', '400', '404', '500'][payload[0]! - 0x88];
  return indexed ?? payload.toString('latin1', 2, 5);
}
