import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { runs } from '../random.ts';

/** Concurrent requests of each kind. */
const EACH = runs(200, 20);

type Fault = (stream: ServerHttp2Stream) => void;

/**
 * * What an upstream does with a stream, and the resulting status and reason; a truncated response has `cut`. `also`:
 *   other
 * streams of the session fail too, answered or not.
 */
const FAULTS: Readonly<Record<string, readonly [fault: Fault, told: string, event: string, also?: true]>> = {
  '/hang': [() => undefined, '504', '504 upstream.timeout'],
  '/reset': [(stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), '502', '502 upstream.reset'],
  '/refuse': [(stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM), '502', '502 upstream.connect'],
  '/leave': [(stream) => stream.session!.destroy(), '502', '502 upstream.reset', true],
  '/goodbye': [
    (stream) => {
      stream.session!.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0);
      setImmediate(() => stream.session?.destroy());
    },
    '502',
    '502 upstream.reset',
    true,
  ],
  '/half': [
    (stream) => {
      stream.respond({ ':status': 200, 'content-length': 100 });
      stream.write('half', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    },
    '200 cut',
    '200 upstream.answered',
  ],
  '/half_and_leave': [
    (stream) => {
      // Node sends NO_ERROR when it closes, without an end of the stream: the length shows the loss.
      stream.respond({ ':status': 200, 'content-length': 100 }, { waitForTrailers: true });
      stream.write('half', () => setImmediate(() => stream.session?.destroy()));
    },
    '200 cut',
    '200 upstream.answered',
    true,
  ],
  '/stall': [
    (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('half');
    },
    '200 cut',
    '200 upstream.answered',
  ],
};

describe(`HTTP/2 upstreams that fail, ${EACH} requests each`, () => {
  const upstream = createServer();
  /** In any case it does not support HTTP/2. */
  let manners: (socket: Socket) => void = () => undefined;
  const other = createTcp((socket) => {
    socket.on('error', () => undefined);
    manners(socket);
  });
  let listening: Listening;
  const events: string[] = [];

  beforeAll(async () => {
    upstream.on('session', (session) => session.on('error', () => undefined));
    upstream.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on('error', () => undefined);
      const path = String(headers[':path']);
      if (path in FAULTS) FAULTS[path]![0](stream);
      else {
        stream.respond({ ':status': 200 });
        stream.end('well');
      }
    });
    const address = async (server: Server | typeof upstream): Promise<string> => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const at = (text: string) => ({ static: { address: text, protocol: 'http2' } });
    const route = (match: string, backend: string) => ({
      match_type: 'path_prefix',
      match,
      backend: { backend_id: backend },
    });
    const edge = createEdge(
      {
        backends: {
          app: at(await address(upstream)),
          other: at(await address(other)),
          gone: at('127.0.0.1:1'),
        },
        edges: {
          https: {
            a: {
              hostports: ['a.test:443'],
              routes: [route('/other', 'other'), route('/gone', 'gone'), route('/', 'app')],
            },
          },
        },
      },
      {
        onEvent: ({ object }, explain) =>
          void events.push(`${object.http.response.status_code} ${explain().decidedBy.code}`),
      },
    );
    listening = await edge.listen({ upstreamLimits: { headMs: 500, bodyIdleMs: 500, connectMs: 500 } });
  });
  beforeEach(() => void events.splice(0));
  afterAll(async () => {
    await listening.close(0);
    upstream.close();
    other.close();
  });

  /** The result for the client of one request. */
  async function ask(session: ClientHttp2Session, path: string, content: string | null): Promise<string> {
    const method = content === null ? 'GET' : 'POST';
    const stream = session.request({ ':path': path, ':authority': 'a.test', ':method': method });
    if (content !== null) stream.end(content);
    let status = 0;
    stream.on('response', (head) => (status = head[':status'] ?? 0));
    stream.on('error', () => undefined).resume();
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    return stream.rstCode === constants.NGHTTP2_NO_ERROR ? String(status) : `${status} cut`;
  }

  async function askMany(path: string, content: string | null): Promise<string[]> {
    const session = connect(listening.url);
    session.on('error', () => undefined);
    const told = await Promise.all(Array.from({ length: EACH }, () => ask(session, path, content)));
    session.destroy();
    return told;
  }

  describe.each([
    ['without content', null],
    ['with content', 'some content'],
  ])('%s', (_name, content) => {
    it.each(Object.keys(FAULTS))('%s: each client is notified, and has one event', async (path) => {
      const [, told, event, also] = FAULTS[path]!;
      const asked = await askMany(path, content);
      await expect.poll(() => events.length).toBe(EACH);
      const may =
        also === true ? { told: ['502'], events: ['502 upstream.reset', '502 upstream.connect'] } : null;
      // Content may have been read, so it is not known to be unsent.
      const isSent = path === '/refuse' && content !== null;
      expect([told, ...(may?.told ?? [])]).toEqual(expect.arrayContaining(asked));
      expect([isSent ? '502 upstream.reset' : event, ...(may?.events ?? [])]).toEqual(
        expect.arrayContaining(events),
      );
      expect(asked).toContain(told);
      expect(await askMany('/well', null)).toEqual(Array.from({ length: EACH }, () => '200'));
    });
  });

  it.each<[string, (socket: Socket) => void]>([
    ['closes at once', (socket) => void socket.end()],
    ['resets at once', (socket) => void socket.resetAndDestroy()],
    ['speaks HTTP/1.1', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['is silent', () => undefined],
    ['sends bytes that are not a frame', (socket) => void socket.write(Buffer.alloc(64, 0xff))],
  ])('one that %s is not connected to: 502', async (_name, behaves) => {
    manners = behaves;
    expect(new Set(await askMany('/other', null))).toEqual(new Set(['502']));
    await expect.poll(() => events.length).toBe(EACH);
    expect(new Set(events)).toEqual(new Set(['502 upstream.connect']));
  });

  it('one that is unreachable: 502', async () => {
    expect(new Set(await askMany('/gone', null))).toEqual(new Set(['502']));
    await expect.poll(() => new Set(events)).toEqual(new Set(['502 upstream.connect']));
    expect(events.length).toBe(EACH);
  });
});
