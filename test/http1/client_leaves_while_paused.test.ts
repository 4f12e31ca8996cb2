import { once } from 'node:events';
import { type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEdge, type Edge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import type { HttpRequestComplete } from '../../src/events/catalogue.ts';
import { bothEnds } from '../io/both_ends.ts';
import { settled } from '../io/settled.ts';

/** A client in the middle of a long message that the other end does not read. */
interface Stuck {
  readonly leave: () => void;
  /** Ends its connection, if leaving did not. */
  readonly end: () => void;
}

/** `whole`: the upstream has ended, and the client has not read everything. */
type Way = 'upload' | 'download' | 'whole';

const LONG = Buffer.alloc(32_000_000, 'x');

describe('a client that leaves while its stream is paused', () => {
  let listening: Listening;
  let edge: Edge;
  let events: HttpRequestComplete[];
  let accepted: Socket[];
  let server: ReturnType<typeof createServer>;

  beforeEach(async () => {
    events = [];
    accepted = [];
    // Reads the head and nothing after it; sends as much of a download as there is room for.
    server = createServer((socket) => {
      accepted.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', (head: Buffer) => {
        if (!head.toString('latin1').startsWith('GET')) socket.pause();
        else {
          const content = head.includes('/whole') ? LONG.subarray(0, 100_000) : LONG;
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\n\r\n`);
          socket.write(content);
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
    edge = createEdge(
      {
        backends: { app: { static: { address: `127.0.0.1:${port}` } } },
        edges: { https: { a: { hostports: ['a.test:443'], routes } } },
      },
      { onEvent: ({ object }) => void events.push(object) },
    );
    listening = await edge.listen({
      limits: { writeIdleMs: 1_000 },
      upstreamLimits: { headMs: 1_000 },
    });
  });
  afterEach(async () => {
    await listening.close(0);
    for (const socket of accepted) socket.destroy();
    server.close();
  });

  /** Waits until the upstream has the request, and no more bytes move. */
  async function untilStuck(listeners: Socket): Promise<void> {
    await expect.poll(() => accepted.length).toBe(1);
    await settled(() => listeners.bytesRead + listeners.bytesWritten, 1);
  }

  async function http1(way: Way, leave: (socket: Socket) => void): Promise<Stuck> {
    const [{ socket }, listeners] = await bothEnds(async () => {
      const made = connect({ port: listening.port, host: '127.0.0.1' }).on('error', () => undefined);
      await once(made, 'connect');
      return { socket: made };
    });
    const method = way === 'upload' ? 'POST' : 'GET';
    const length = way === 'upload' ? `Content-Length: ${LONG.length}\r\n` : '';
    socket.write(`${method} / HTTP/1.1\r\nHost: a.test\r\n${length}\r\n`);
    if (way === 'upload') socket.write(LONG);
    else socket.pause();
    await untilStuck(listeners);
    return { leave: () => leave(socket), end: () => undefined };
  }

  async function http2(way: Way, code: number): Promise<Stuck> {
    const [session, listeners] = await bothEnds(async () => {
      const made = connectHttp2(listening.url).on('error', () => undefined);
      await once(made, 'connect');
      return made;
    });
    const method = way === 'upload' ? 'POST' : 'GET';
    const stream: ClientHttp2Stream = session.request({
      ':path': `/${way}`,
      ':authority': 'a.test',
      ':method': method,
    });
    stream.on('error', () => undefined);
    if (way === 'upload') stream.write(LONG);
    await untilStuck(listeners);
    return {
      leave: () => {
        if (code < 0) session.destroy();
        else stream.close(code);
      },
      end: () => session.destroy(),
    };
  }

  /** Ways of disconnecting. */
  const WAYS: readonly [string, (way: Way) => Promise<Stuck>][] = [
    ['HTTP/1.1, closes', (way) => http1(way, (socket) => void socket.destroy())],
    ['HTTP/1.1, resets', (way) => http1(way, (socket) => void socket.resetAndDestroy())],
    ['HTTP/2, resets with CANCEL', (way) => http2(way, constants.NGHTTP2_CANCEL)],
    ['HTTP/2, resets with NO_ERROR', (way) => http2(way, constants.NGHTTP2_NO_ERROR)],
    ['HTTP/2, destroys its session', (way) => http2(way, -1)],
  ];

  it.each(WAYS)('%s: an upload that its upstream does not read', async (_name, begin) => {
    const { leave, end } = await begin('upload');
    leave();
    await expect.poll(() => events.length).toBe(1);
    await expect.poll(() => accepted[0]!.resume().closed).toBe(true);
    end();
    expect(await listening.close(2_000)).toEqual({ cut: 0 });
    expect(events.length).toBe(1);
  });

  it.each(WAYS.slice(2))('%s: a response whose end it does not read', async (_name, begin) => {
    const { leave, end } = await begin('whole');
    leave();
    await expect.poll(() => events.length).toBe(1);
    end();
    expect(await listening.close(2_000)).toEqual({ cut: 0 });
    expect(events.length).toBe(1);
  });

  it.each(WAYS)('%s: a download that it does not read', async (_name, begin) => {
    const { leave, end } = await begin('download');
    leave();
    await expect.poll(() => events.length).toBe(1);
    await expect.poll(() => accepted[0]!.closed).toBe(true);
    expect(events[0]!.http.response.status_code).toBe(200);
    end();
    expect(await listening.close(2_000)).toEqual({ cut: 0 });
    expect(events.length).toBe(1);
  });
});
