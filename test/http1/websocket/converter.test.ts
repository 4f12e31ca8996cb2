import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createEdge } from '../../../src/edgeproof.ts';
import type { HttpRequestCompleteEvent } from '../../../src/events/catalogue.ts';
import type { Listening } from '../../../src/listening.ts';
import { settled } from '../../io/settled.ts';
import { hasProgram, PYTHON } from '../../peers.ts';

const HEAD =
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** What the TCP backend does with a connection; by default it echoes. */
let handle: ((socket: Socket) => void) | null = null;
const backend = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => undefined);
  if (handle === null) socket.pipe(socket);
  else handle(socket);
});

describe('WebSockets that become TCP', () => {
  let listening: Listening;
  let url: string;
  const events: HttpRequestCompleteEvent['object'][] = [];

  beforeAll(async () => {
    backend.listen(0, '127.0.0.1');
    await once(backend, 'listening');
    const { port } = backend.address() as AddressInfo;
    const edge = createEdge(
      {
        backends: {
          app: { static: { address: `127.0.0.1:${port}` } },
          gone: { static: { address: '127.0.0.1:1' } },
        },
        edges: {
          https: {
            a: {
              hostports: ['127.0.0.1:443'],
              routes: [
                {
                  match_type: 'path_prefix',
                  match: '/gone',
                  websocket_tcp_converter: {},
                  backend: { backend_id: 'gone' },
                },
                {
                  match_type: 'path_prefix',
                  match: '/guarded',
                  websocket_tcp_converter: {},
                  circuit_breaker: { volume_threshold: 2, error_threshold_percentage: 0.5 },
                  backend: { backend_id: 'app' },
                },
                {
                  match_type: 'path_prefix',
                  match: '/',
                  websocket_tcp_converter: {},
                  backend: { backend_id: 'app' },
                },
              ],
            },
          },
        },
      },
      { adoptHosts: 'any', onEvent: ({ object }) => void events.push(object) },
    );
    listening = await edge.listen({});
    url = listening.url.replace('http', 'ws');
  });

  afterAll(async () => {
    await listening.close(0);
    backend.close();
  });

  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(url);
    socket.binaryType = 'nodebuffer';
    await once(socket, 'open');
    return socket;
  };

  /** Everything that the client receives, until there are `bytes` of it. */
  const gathered = (socket: WebSocket, bytes: number): Promise<Buffer> =>
    new Promise((resolve) => {
      const pieces: Buffer[] = [];
      let count = 0;
      socket.on('message', (piece: Buffer) => {
        pieces.push(piece);
        count += piece.length;
        if (count >= bytes) resolve(Buffer.concat(pieces));
      });
    });

  it('carries two million bytes in both directions, in messages with every encoding of the length', async () => {
    handle = null;
    const socket = await open();
    const lengths = [0, 1, 125, 126, 65_535, 65_536, 1_000_000, 868_741];
    const all = Buffer.alloc(lengths.reduce((sum, each) => sum + each, 0));
    for (let at = 0; at < all.length; at++) all[at] = (at * 31) & 0xff;
    const came = gathered(socket, all.length);
    let from = 0;
    for (const length of lengths) socket.send(all.subarray(from, (from += length)));
    expect((await came).equals(all)).toBe(true);
    const before = events.length;
    socket.close(3001);
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(3001);
    await expect.poll(() => events.length).toBe(before + 1);
    expect(events.at(-1)!.http.response.status_code).toBe(101);
  });

  it('joins fragmented messages, and answers pings between them', async () => {
    handle = null;
    const socket = await open();
    const came = gathered(socket, 9);
    const pong = once(socket, 'pong');
    socket.send('abc', { binary: true, fin: false });
    socket.ping('are you there');
    socket.send('def', { binary: true, fin: false });
    socket.send('ghi', { binary: true, fin: true });
    expect(String((await pong)[0])).toBe('are you there');
    expect(String(await came)).toBe('abcdefghi');
    socket.terminate();
  });

  it('text messages carry bytes, too', async () => {
    handle = null;
    const socket = await open();
    const came = gathered(socket, 11);
    socket.send('text, ');
    socket.send(Buffer.from('bytes'));
    expect(String(await came)).toBe('text, bytes');
    socket.terminate();
  });

  it('the end of the backend’s bytes closes with 1000, its failure with 1011', async () => {
    handle = (socket) => void socket.end('bye');
    const ending = new WebSocket(url);
    const [said] = (await once(ending, 'message')) as [Buffer];
    expect(String(said)).toBe('bye');
    expect((await once(ending, 'close'))[0]).toBe(1000);
    handle = (socket) => void socket.once('data', () => socket.resetAndDestroy());
    const breaking = await open();
    breaking.send(Buffer.from('x'));
    expect((await once(breaking, 'close'))[0]).toBe(1011);
  });

  it('the end of the WebSocket ends the bytes to the backend', async () => {
    let seen = '';
    const ended = new Promise<void>((resolve) => {
      handle = (socket) => {
        socket.on('data', (piece: Buffer) => (seen += piece.toString()));
        socket.on('end', () => {
          socket.end();
          resolve();
        });
      };
    });
    const socket = await open();
    socket.send(Buffer.from('last words'));
    socket.close();
    await ended;
    expect(seen).toBe('last words');
  });

  it('a client that does not read applies backpressure to the backend', async () => {
    let sentBytes = 0;
    handle = (socket) => {
      const more = (): void => {
        while (sentBytes < 64_000_000) {
          sentBytes += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) {
            socket.once('drain', more);
            return;
          }
        }
      };
      more();
    };
    const socket = await open();
    socket.pause();
    expect(await settled(() => sentBytes, 1)).toBeLessThan(64_000_000);
    socket.terminate();
  });

  it('a request without WebSocket gets 400, an unreachable backend 502', async () => {
    const plain = await fetch(listening.url);
    expect(plain.status).toBe(400);
    expect(plain.headers.get('service-error-code')).toBe('ERR_SERVICE_3206');
    const socket = new WebSocket(`${url}/gone`);
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('502');
  });

  it.each([
    ['in HTTP/1.0', '1.0', ''],
    ['with content', '1.1', 'Content-Length: 2\r\n\r\nhi'],
    ['with chunked content', '1.1', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'],
    ['that expects 100', '1.1', 'Expect: 100-continue\r\n\r\n'],
  ])('a request %s does not open a WebSocket, nor a circuit', async (_name, version, rest) => {
    handle = null;
    const { port } = new URL(listening.url);
    for (let count = 0; count < 4; count++) {
      const socket = connect(Number(port), '127.0.0.1');
      const head = HEAD.replace('GET / HTTP/1.1', `GET /guarded HTTP/${version}`);
      socket.write(rest === '' ? head : head.replace(/\r\n$/, rest));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      expect(answer.toString('latin1', 0, 12)).toBe('HTTP/1.1 400');
      expect(answer.toString('latin1')).toContain('ERR_SERVICE_3206');
    }
    const socket = new WebSocket(`${url}/guarded`);
    await once(socket, 'open');
    socket.terminate();
  });

  it.each([
    ['a frame without a mask', [0x82, 0x01, 0x41], 1002],
    ['a reserved bit', [0xc2, 0x80, 0, 0, 0, 0], 1002],
    ['an unknown kind', [0x83, 0x80, 0, 0, 0, 0], 1002],
    ['a continuation of nothing', [0x80, 0x80, 0, 0, 0, 0], 1002],
    ['a ping in pieces', [0x09, 0x80, 0, 0, 0, 0], 1002],
    ['a length that is longer than it need be', [0x82, 0xfe, 0, 5, 0, 0, 0, 0], 1002],
    ['a close with a reserved code', [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xed], 1002],
    ['a close without a code', [0x88, 0x80, 0, 0, 0, 0], null],
  ])('raw frames: %s', async (_name, frame, code) => {
    handle = null;
    const { port } = new URL(listening.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(HEAD);
    for (const byte of frame) socket.write(Buffer.from([byte]));
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    await once(socket, 'end');
    socket.destroy();
    const all = Buffer.concat(pieces);
    expect(all.toString('latin1', 0, 12)).toBe('HTTP/1.1 101');
    const frames = all.subarray(all.indexOf('\r\n\r\n') + 4);
    const wanted = code === null ? [0x88, 0] : [0x88, 2, code >> 8, code & 0xff];
    expect([...frames]).toEqual(wanted);
  });

  it('HTTP/2 supports it, too, by extended CONNECT', async () => {
    handle = null;
    const session = connectHttp2(listening.url);
    await once(session, 'remoteSettings');
    const stream = session.request(
      {
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':scheme': 'http',
        ':authority': '127.0.0.1',
        ':path': '/',
        'sec-websocket-version': '13',
      },
      { endStream: false },
    );
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(head[':status']).toBe(200);
    stream.write(Buffer.from([0x82, 0x83, 1, 2, 3, 4, 0x41 ^ 1, 0x42 ^ 2, 0x43 ^ 3]));
    let came = Buffer.alloc(0);
    stream.on('data', (piece: Buffer) => (came = Buffer.concat([came, piece])));
    await expect.poll(() => came.toString('latin1')).toBe('\x82\x03ABC');
    session.destroy();
  });

  const hasPython = hasProgram(PYTHON, ['-c', 'import websockets'], 'WebSockets of Python');
  it.skipIf(!hasPython)('works with Python’s websockets', async () => {
    handle = null;
    const program = [
      'import asyncio, websockets, sys',
      'async def main():',
      '  async with websockets.connect(sys.argv[1]) as ws:',
      '    await ws.send([b"one ", b"two ", b"three"])',
      '    got = b""',
      '    while len(got) < 13: got += await ws.recv()',
      '    await (await ws.ping())',
      '    print(got.decode())',
      'asyncio.run(main())',
    ].join('\n');
    const child = spawn(PYTHON, ['-c', program, url]);
    let out = '';
    child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
    child.stderr.on('data', (piece: Buffer) => (out += piece.toString()));
    await once(child, 'close');
    expect(out.trim()).toBe('one two three');
  });
});
