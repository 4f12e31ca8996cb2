import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEdge, type Edge } from '../../../src/edgeproof.ts';

/** The backend of both routes: it switches the protocol and echoes, or echoes plain TCP. */
const taken: Socket[] = [];
const backend = createServer({ allowHalfOpen: true }, (socket) => {
  taken.push(socket);
  socket.on('error', () => undefined);
  let isTunnel = false;
  socket.on('data', (bytes: Buffer) => {
    if (!isTunnel && bytes.toString('latin1', 0, 4) === 'GET ') {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    } else socket.write(bytes);
    isTunnel = true;
  });
  socket.on('end', () => socket.end());
});

/** `ABC` in one masked binary frame. */
const FRAME = Buffer.from([0x82, 0x83, 1, 2, 3, 4, 0x41 ^ 1, 0x42 ^ 2, 0x43 ^ 3]);

interface Opened {
  /** The client's connection. */
  readonly client: Socket;
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
  readonly upstream: Socket;
}

interface Ending {
  readonly name: string;
  readonly end: (opened: Opened) => void;
}

/** Ways in which a tunnel ends. */
const ENDINGS: readonly Ending[] = [
  { name: 'the client ends its stream', end: ({ stream }) => void stream.end() },
  {
    name: 'the client resets its stream',
    end: ({ stream }) => stream.close(constants.NGHTTP2_CANCEL),
  },
  {
    name: 'the client resets its stream with NO_ERROR',
    end: ({ stream }) => stream.close(constants.NGHTTP2_NO_ERROR),
  },
  { name: 'the client destroys its session', end: ({ session }) => session.destroy() },
  {
    name: 'the client says goodbye and leaves',
    end: ({ session }) => {
      session.goaway(constants.NGHTTP2_NO_ERROR);
      setImmediate(() => session.destroy());
    },
  },
  {
    name: 'the client resets its connection',
    end: ({ client }) => void client.resetAndDestroy(),
  },
  { name: 'the upstream ends', end: ({ upstream }) => void upstream.end() },
  { name: 'the upstream closes', end: ({ upstream }) => void upstream.destroy() },
  { name: 'the upstream resets', end: ({ upstream }) => void upstream.resetAndDestroy() },
];

describe('the end of a WebSocket over HTTP/2', () => {
  let edge: Edge;
  const statuses: number[] = [];

  beforeAll(async () => {
    backend.listen(0, '127.0.0.1');
    await once(backend, 'listening');
    const { port } = backend.address() as AddressInfo;
    const route = { match_type: 'path_prefix', backend: { backend_id: 'app' } };
    edge = createEdge(
      {
        backends: { app: { static: { address: `127.0.0.1:${port}` } } },
        edges: {
          https: {
            a: {
              hostports: ['127.0.0.1:443'],
              routes: [
                { ...route, match: '/tcp', websocket_tcp_converter: {} },
                { ...route, match: '/' },
              ],
            },
          },
        },
      },
      { adoptHosts: 'any', onEvent: ({ object }) => void statuses.push(object.http.response.status_code) },
    );
  });

  beforeEach(() => {
    statuses.length = 0;
    taken.length = 0;
  });

  afterAll(() => void backend.close());

  async function open(url: string, path: string): Promise<Opened> {
    const client = connectTcp({ port: Number(new URL(url).port), host: '127.0.0.1' });
    const session = connect(url, { createConnection: () => client });
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    const stream = session.request(
      {
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':scheme': 'http',
        ':authority': '127.0.0.1',
        ':path': path,
        'sec-websocket-version': '13',
      },
      { endStream: false },
    );
    stream.on('error', () => undefined);
    await once(stream, 'response');
    stream.write(FRAME);
    await once(stream, 'data');
    // Answers a close frame by closing, as clients do.
    stream.on('end', () => stream.end());
    return { client, session, stream, upstream: taken.at(-1)! };
  }

  describe.each(['/', '/tcp'])('at %s', (path) => {
    it.each(ENDINGS)('$name: one event, the upstream released, nothing left open', async ({ end }) => {
      const listening = await edge.listen({});
      const opened = await open(listening.url, path);
      const { upstream, session } = opened;
      const released = upstream.closed ? Promise.resolve() : once(upstream, 'close');
      end(opened);
      await expect.poll(() => statuses).toEqual([101]);
      await released;
      session.destroy();
      const from = performance.now();
      expect(await listening.close(120_000)).toEqual({ cut: 0 });
      expect(performance.now() - from).toBeLessThan(30_000);
      expect(statuses).toEqual([101]);
    });

    it('a drain closes what does not end, and waits for nothing after that', async () => {
      const listening = await edge.listen({});
      const { session, upstream } = await open(listening.url, path);
      const released = once(upstream, 'close');
      // A WebSocket gets a close frame, the stream of a converted connection is reset: both connections end by themselves.
      expect(await listening.close(2_000)).toEqual({ cut: 0 });
      expect(statuses).toEqual([101]);
      await released;
      session.destroy();
    });
  });
});
