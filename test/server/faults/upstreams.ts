import type { Socket } from 'node:net';
import { type RawUpstream, rawUpstream } from './raw_upstream.ts';
import {
  data,
  FLAG,
  FRAME,
  frame,
  frameReader,
  goaway,
  headers,
  PREFACE,
  reset,
  settings,
  SETTINGS_ACK,
} from '../../http2/frames.ts';
import { type Chance, pause } from './chance.ts';

/**
 * Upstreams that go wrong. The one of HTTP/1.1 is controlled by the request target: `?shape=…&fault=…&at=…&gap=…` says
 * which answer it gives, how it goes wrong, and before which piece.
 */

export const SHAPES = [
  'plain',
  'chunked',
  'interim',
  'late',
  'until_close',
  'large',
  'empty',
  'unchanged',
  'odd_status',
  'trailers',
  'switch',
] as const;

export const UPSTREAM_FAULTS = [
  'none',
  'none',
  'fin',
  'rst',
  'destroy',
  'half',
  'garbage',
  'reset0',
  'reset7',
  'reset8',
  'goaway',
  'twice',
] as const;

interface Asked {
  readonly shape: string;
  readonly fault: string;
  readonly at: number;
  readonly gap: number;
}

function askedBy(target: string): Asked {
  const { searchParams } = new URL(target, 'http://a.test');
  const text = (name: string): string => searchParams.get(name) ?? '';
  return { shape: text('shape'), fault: text('fault'), at: Number(text('at')), gap: Number(text('gap')) };
}

const LARGE = Buffer.alloc(90_000, 'large ');
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';

// table: shapes of HTTP/1.1
const PIECES: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  plain: [`${HEAD}Content-Length: 11\r\n\r\n`, 'hello ', 'world'],
  late: [`${HEAD}Content-Length: 11\r\n\r\n`, 'hello ', 'world'],
  chunked: [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '6\r\nhello ', '\r\n5\r\nworld\r\n', '0\r\n\r\n'],
  interim: [
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n',
    `${HEAD}Content-Length: 5\r\n\r\n`,
    'hello',
  ],
  until_close: [`${HEAD}Connection: close\r\n\r\n`, 'hello ', 'world'],
  large: [`${HEAD}Content-Length: 270000\r\n\r\n`, LARGE, LARGE, LARGE],
  empty: ['HTTP/1.1 204 No Content\r\n\r\n'],
  unchanged: ['HTTP/1.1 304 Not Modified\r\nContent-Length: 90\r\n\r\n'],
  odd_status: ['HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\n', 'ok'],
  trailers: [
    `${HEAD}Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n`,
    '5\r\nhello\r\n',
    '0\r\nX-Sum: 1\r\nSet-Cookie: a=b\r\n\r\n',
  ],
  switch: [
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    Buffer.from([0x82, 2, 1, 2]),
    Buffer.from([0x88, 2, 3, 0xe8]),
  ],
};

function listening(serve: (socket: Socket) => void): Promise<RawUpstream> {
  return rawUpstream(
    (socket) => {
      socket.on('end', () => void socket.end());
      serve(socket);
    },
    { allowHalfOpen: true },
  );
}

/** Ends, or corrupts, a connection; false if nothing more is to be sent on it. */
function goWrong(socket: Socket, fault: string): boolean {
  if (fault === 'none') return true;
  if (fault === 'fin' || fault === 'goaway') socket.end();
  else if (fault === 'half') socket.end('HTTP');
  else if (fault === 'garbage') socket.write('\0garbage\r\n\r\n');
  else if (fault === 'twice') socket.write(`${HEAD}Content-Length: 3\r\n\r\ntwo`);
  // Node keeps a socket that is reset while its end is being sent.
  else if (fault === 'rst' && !socket.writableEnded) socket.resetAndDestroy();
  else socket.destroy();
  return false;
}

export function faultyHttp1(): Promise<RawUpstream> {
  return listening((socket) => {
    let got = '';
    let isBusy = false;
    const answer = async (target: string): Promise<void> => {
      const { shape, fault, at, gap } = askedBy(target);
      if (shape === 'late') await pause(5);
      for (const [index, piece] of (PIECES[shape] ?? PIECES['plain']!).entries()) {
        if (index === at && !goWrong(socket, fault)) break;
        if (socket.destroyed || socket.writableEnded) break;
        socket.write(piece);
        if (gap > 0) await pause(gap - 1);
      }
      if (shape === 'until_close') socket.end();
      isBusy = false;
    };
    socket.on('data', (bytes: Buffer) => {
      got = (got + bytes.toString('latin1')).slice(-65_536);
      const head = /(?:GET|POST|PUT|HEAD) (\S+) HTTP\/1\.1\r\n/.exec(got);
      if (isBusy || head === null || !got.includes('\r\n\r\n', head.index)) return;
      got = '';
      isBusy = true;
      void answer(head[1]!);
    });
  });
}

// --- HTTP/2 ------------------------------------------------------------------------------------------------------

type Step = (stream: number) => Buffer;
const OK = [
  [':status', '200'],
  ['content-type', 'text/plain'],
] as const;

// table: shapes of HTTP/2
const STEPS: Readonly<Record<string, readonly Step[]>> = {
  plain: [(id) => headers(id, [...OK, ['content-length', '5']], false), (id) => data(id, 'hello', true)],
  late: [(id) => headers(id, OK, false), (id) => data(id, 'hello'), (id) => data(id, '', true)],
  chunked: [(id) => headers(id, OK, false), (id) => data(id, 'a'), (id) => data(id, 'b', true)],
  interim: [
    (id) => headers(id, [[':status', '103']], false),
    (id) => headers(id, [[':status', '103']], false),
    (id) => headers(id, OK, false),
    (id) => data(id, 'hello', true),
  ],
  large: [
    (id) => headers(id, OK, false),
    (id) => data(id, LARGE.subarray(0, 16_000)),
    (id) => data(id, LARGE.subarray(0, 16_000)),
    (id) => data(id, LARGE.subarray(0, 16_000), true),
  ],
  empty: [(id) => headers(id, [[':status', '204']])],
  unchanged: [(id) => headers(id, [[':status', '304']])],
  odd_status: [(id) => headers(id, [[':status', '799']], false), (id) => data(id, 'odd', true)],
  trailers: [
    (id) => headers(id, OK, false),
    (id) => data(id, 'hello'),
    (id) =>
      headers(id, [
        ['x-sum', '1'],
        ['set-cookie', 'a=b'],
      ]),
  ],
  switch: [(id) => headers(id, [[':status', '101']], false)],
};

/** Faults of a stream, before its connection fails. */
function streamFault(stream: number, fault: string): Buffer | null {
  if (fault.startsWith('reset')) return reset(stream, Number(fault.slice(5)));
  if (fault === 'goaway') return goaway(0, 0);
  if (fault === 'twice')
    return Buffer.concat([headers(stream, OK, false), headers(stream, OK), data(stream, 'x')]);
  if (fault === 'garbage') return frame(FRAME.headers, FLAG.endHeaders, stream, Buffer.from([0xff, 0xff]));
  return null;
}

/** It chooses itself what to do with a stream, because request heads are compressed. */
export function faultyHttp2(chance: Chance): Promise<RawUpstream> {
  return listening((socket) => {
    let preface = PREFACE.length;
    const answer = async (stream: number): Promise<void> => {
      const [steps, fault] = [STEPS[chance.one(Object.keys(STEPS))]!, chance.one(UPSTREAM_FAULTS)];
      const [at, gap] = [chance.below(4), chance.below(3)];
      for (const [index, step] of steps.entries()) {
        if (socket.destroyed || socket.writableEnded) return;
        if (index === at && fault !== 'none') {
          const bytes = streamFault(stream, fault);
          if (bytes === null && !goWrong(socket, fault)) return;
          if (bytes !== null) socket.write(bytes);
          if (fault.startsWith('reset')) return;
        }
        socket.write(step(stream));
        if (gap > 0) await pause(gap - 1);
      }
    };
    const read = frameReader(({ type, flags, stream }) => {
      if (type === FRAME.settings && (flags & FLAG.ack) === 0) socket.write(SETTINGS_ACK);
      if (type === FRAME.headers) void answer(stream);
    });
    socket.write(settings([[3, 50]]));
    socket.on('data', (bytes: Buffer) => {
      const skipped = Math.min(preface, bytes.length);
      preface -= skipped;
      read(bytes.subarray(skipped));
    });
  });
}

/** A TCP backend that ends or resets at random. */
export function faultyTcp(chance: Chance): Promise<RawUpstream> {
  return listening((socket) => {
    const left = chance.below(4);
    const fault = chance.one(['none', 'fin', 'rst', 'destroy'] as const);
    let pieces = 0;
    if (left === 0) goWrong(socket, fault);
    socket.on('data', (bytes: Buffer) => {
      if (socket.writable) socket.write(bytes);
      if (++pieces === left) goWrong(socket, fault);
    });
  });
}
