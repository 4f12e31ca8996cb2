import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createEdge } from '../../../src/edgeproof.ts';
import type { Listening } from '../../../src/listening.ts';
import { bothEnds } from '../../io/both_ends.ts';
import { settled } from '../../io/settled.ts';
import { IS_FULL } from '../../random.ts';

/** A backend for TCP and WebSockets: it accepts requests for a WebSocket; everything else is data. */
let handle: (socket: Socket) => void;
const taken: Socket[] = [];
const backend = createServer({ allowHalfOpen: true }, (socket) => {
  taken.push(socket);
  socket.on('error', () => undefined);
  handle(socket);
});

/** Takes the head of a request and answers with 101. */
const granting =
  (then: (socket: Socket) => void) =>
  (socket: Socket): void =>
    void socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
      socket.pause();
      then(socket);
    });

const UPGRADE =
  'Host: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const EXTENDED = {
  ':method': 'CONNECT',
  ':protocol': 'websocket',
  ':scheme': 'http',
  ':authority': '127.0.0.1',
  'sec-websocket-version': '13',
};

/** A frame of a client, masked with zeros. */
function frame(opcode: number, payload: Buffer, isLast = true): Buffer {
  return Buffer.concat([
    Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]),
    payload,
  ]);
}

function repeated(bytes: Buffer, atLeastBytes: number): Buffer {
  return Buffer.concat(Array.from({ length: Math.ceil(atLeastBytes / bytes.length) }, () => bytes));
}

const FLOOD_BYTES = 48_000_000;
const SLAB_BYTES = 262_144;
/** Upper estimate of the buffers of the system and of both programs together. */
const BUFFERS_BYTES = 24_000_000;

/** Writes a flood with back-pressure; settles when everything is written, or after half a second without room. */
async function flood(to: Duplex, slab: Buffer, limitBytes = FLOOD_BYTES): Promise<number> {
  let bytes = 0;
  while (bytes < limitBytes) {
    bytes += slab.length;
    if (to.write(slab)) continue;
    const isHeld = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(true), 500);
      to.once('drain', () => {
        clearTimeout(timer);
        resolve(false);
      });
    });
    if (isHeld) break;
  }
  return bytes;
}

/** Bytes that the process holds. */
const heldBytes = (): number => process.memoryUsage().rss;

describe('WebSockets whose peers do not read', () => {
  let listening: Listening;
  let port: number;
  const opened: { destroy: () => void }[] = [];

  beforeAll(async () => {
    backend.listen(0, '127.0.0.1');
    await once(backend, 'listening');
    const address = `127.0.0.1:${(backend.address() as AddressInfo).port}`;
    const edge = createEdge(
      {
        backends: { app: { static: { address } } },
        edges: {
          https: {
            a: {
              hostports: ['127.0.0.1:443'],
              routes: [
                {
                  match_type: 'path_prefix',
                  match: '/tcp',
                  websocket_tcp_converter: {},
                  backend: { backend_id: 'app' },
                },
                { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } },
              ],
            },
          },
        },
      },
      { adoptHosts: 'any' },
    );
    listening = await edge.listen({});
    port = Number(new URL(listening.url).port);
  });

  afterEach(() => {
    for (const each of [...opened.splice(0), ...taken.splice(0)]) each.destroy();
  });

  afterAll(async () => {
    await listening.close(0);
    backend.close();
  });

  /** A WebSocket over HTTP/1.1 of which only the head has been read. */
  const overHttp1 = async (path: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    opened.push(socket);
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\n${UPGRADE}`);
    await once(socket, 'readable');
    const head = (socket.read() as Buffer).toString('latin1');
    expect(head.slice(0, 12)).toBe('HTTP/1.1 101');
    return socket;
  };

  const overHttp2 = async (path: string): Promise<ClientHttp2Stream> => {
    const session = connectHttp2(listening.url);
    opened.push(session);
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    const stream = session.request({ ...EXTENDED, ':path': path }, { endStream: false });
    stream.on('error', () => undefined);
    await once(stream, 'response');
    return stream;
  };

  const WAYS = [
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ] as const;
  /** The converter reads the same frames from both; short runs unmask half as many megabytes. */
  const FLOODED = IS_FULL ? WAYS : WAYS.slice(0, 1);

  it.each(FLOODED)('%s: pings of a client that does not read are not collected', async (_name, open) => {
    handle = (socket) => void socket.resume();
    const socket = await open('/tcp');
    const before = heldBytes();
    await flood(socket, repeated(frame(9, Buffer.alloc(125)), SLAB_BYTES));
    expect(heldBytes() - before).toBeLessThan(90_000_000);
    // The edge does no work for ended connections.
    socket.destroy();
    await (await fetch(`${listening.url}/tcp`, { signal: AbortSignal.timeout(20_000) })).text();
  });

  it('one pong is queued: that of the latest ping', async () => {
    // More than the buffers can hold, so that there is no room for pongs.
    let written = 0;
    const slab = Buffer.alloc(FLOOD_BYTES / 100);
    handle = (socket) => {
      const goOn = (): void => {
        while (written < FLOOD_BYTES) {
          written += slab.length;
          if (!socket.write(slab)) return void socket.once('drain', goOn);
        }
        socket.end();
      };
      goOn();
    };
    const [{ webSocket: socket, socket: wire }, listeners] = await bothEnds(async () => {
      const webSocket = new WebSocket(`ws://127.0.0.1:${port}/tcp`);
      webSocket.binaryType = 'nodebuffer';
      const upgraded = once(webSocket, 'upgrade') as Promise<[IncomingMessage]>;
      await once(webSocket, 'open');
      webSocket.pause();
      return { webSocket, socket: (await upgraded)[0].socket };
    });
    opened.push({ destroy: () => socket.terminate() });
    const pongs: string[] = [];
    let bytes = 0;
    socket.on('pong', (payload) => pongs.push(String(payload)));
    socket.on('message', (piece: Buffer) => (bytes += piece.length));
    const closed = once(socket, 'close');
    expect(await settled(() => written, 1)).toBeLessThan(FLOOD_BYTES);
    for (let at = 0; at < 500; at++) socket.ping(`ping ${at}`);
    await new Promise((resolve) => socket.ping('last', true, resolve));
    await expect.poll(() => listeners.bytesRead).toBe(wire.bytesWritten);
    socket.resume();
    expect((await closed)[0]).toBe(1000);
    expect(bytes).toBe(FLOOD_BYTES);
    expect(pongs.at(-1)).toBe('last');
    expect(pongs.length).toBeLessThan(20);
  });

  it.each(FLOODED)('%s: small frames wait while a backend does not read', async (_name, open) => {
    handle = (socket) => void socket.pause();
    for (const tiny of [frame(2, Buffer.from('x')), frame(0, Buffer.from('x'), false)]) {
      const socket = await open('/tcp');
      if (tiny[0] === 0) socket.write(frame(2, Buffer.from('a message in pieces'), false));
      const before = heldBytes();
      await flood(socket, repeated(tiny, SLAB_BYTES), FLOOD_BYTES / 4);
      expect(heldBytes() - before).toBeLessThan(90_000_000);
      socket.destroy();
    }
  });

  it.each(FLOODED)('%s: bytes after a close frame are not collected', async (_name, open) => {
    handle = (socket) => void socket.resume();
    const socket = await open('/tcp');
    const before = heldBytes();
    socket.write(frame(8, Buffer.from([3, 0xe8])));
    await flood(socket, repeated(frame(8, Buffer.from([3, 0xe8])), SLAB_BYTES));
    expect(heldBytes() - before).toBeLessThan(90_000_000);
  });

  it.each(WAYS)('%s: bytes pass no faster than the other side reads them', async (_name, open) => {
    handle = granting(() => undefined);
    const up = await open('/plain');
    expect(await flood(up, Buffer.alloc(SLAB_BYTES))).toBeLessThan(BUFFERS_BYTES);
    up.destroy();
    let sent = 0;
    handle = granting((socket) => void flood(socket, Buffer.alloc(SLAB_BYTES)).then((all) => (sent = all)));
    const down = await open('/plain');
    await expect.poll(() => sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(BUFFERS_BYTES);
    down.destroy();
  });

  it('subprotocols keep their letter case, and are case-sensitive', async () => {
    handle = (socket) => void socket.resume();
    for (const [offered, chosen] of [
      [['MQTT'], 'MQTT'],
      [['Binary', 'mqtt'], 'Binary'],
      [['MQTT', 'binary'], 'binary'],
    ] as const) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/tcp`, [...offered]);
      await once(socket, 'open');
      expect(socket.protocol).toBe(chosen);
      socket.terminate();
    }
  });

  it('a close reason that is not UTF-8 closes with 1007', async () => {
    handle = (socket) => void socket.resume();
    const socket = await overHttp1('/tcp');
    socket.write(frame(8, Buffer.from([3, 0xe8, 0xff, 0xfe])));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect([...answer]).toEqual([0x88, 2, 0x03, 0xef]);
  });
});
