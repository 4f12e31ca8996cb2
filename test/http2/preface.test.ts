import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { bothEnds } from '../io/both_ends.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
/** An empty SETTINGS frame (RFC 9113 §6.5). */
const SETTINGS = '\0\0\0\x04\0\0\0\0\0';
const GET = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n';

const upstream = createServer((_request, response) => void response.end('ok'));

describe('HTTP/2 with prior knowledge on a plain port', () => {
  let edge: Edge;
  let listening: Listening;
  const statuses: number[] = [];

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
    edge = createEdge(
      {
        backends: { app: { static: { address: `127.0.0.1:${port}` } } },
        edges: { https: { a: { hostports: ['a.test:443'], routes } } },
      },
      { onEvent: ({ object }) => void statuses.push(object.http.response.status_code) },
    );
    listening = await edge.listen({ limits: { headMs: 300 } });
  });
  beforeEach(() => void statuses.splice(0));
  afterAll(async () => {
    await listening.close(0);
    upstream.closeAllConnections();
    upstream.close();
  });

  async function open(
    port = listening.port,
    allowHalfOpen = false,
  ): Promise<{ socket: Socket; got: () => string }> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen });
    let got = '';
    socket.on('error', () => undefined).on('data', (bytes: Buffer) => (got += bytes.toString('latin1')));
    await once(socket, 'connect');
    return { socket, got: () => got };
  }

  it.each([1, 5, 8, 14, 16, 17, 18, 24])(
    'begins however the preface is split: in pieces of %i bytes',
    async (size) => {
      const [{ socket, got }, listeners] = await bothEnds(open);
      const bytes = PREFACE + SETTINGS;
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.slice(at, at + size), 'latin1');
        // Each piece is read before the next one comes.
        const sent = Math.min(at + size, bytes.length);
        await expect.poll(() => listeners.bytesRead, { interval: 1 }).toBe(sent);
      }
      // Its own settings, and the acknowledgement of ours.
      await expect.poll(got).toContain('\0\0\0\x04\x01\0\0\0\0');
      expect(got().charCodeAt(3)).toBe(4);
      expect(statuses).toEqual([]);
      socket.destroy();
    },
  );

  it('does not begin after an HTTP/1.1 request: 505, and the connection closes', async () => {
    const { socket, got } = await open();
    socket.write(GET + PREFACE + SETTINGS, 'latin1');
    await once(socket, 'end');
    expect(got()).toMatch(/^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 505 /);
    expect(statuses).toEqual([200, 505]);
    socket.destroy();
  });

  it('Upgrade: h2c is ignored: the response is HTTP/1.1', async () => {
    const { socket, got } = await open();
    const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n';
    socket.write(`GET / HTTP/1.1\r\nHost: a.test\r\n${upgrade}`);
    await expect.poll(got).toMatch(/^HTTP\/1\.1 200 [\s\S]*ok$/);
    expect(got().toLowerCase()).not.toContain('upgrade');
    expect(statuses).toEqual([200]);
    socket.destroy();
  });

  it('an incomplete preface is an incomplete head: 408', async () => {
    const { socket, got } = await open();
    socket.write(PREFACE.slice(0, 10));
    await once(socket, 'end');
    expect(got()).toMatch(/^HTTP\/1\.1 408 /);
    expect(statuses).toEqual([408]);
    socket.destroy();
  });

  it('a head that does not go on ends the connection', async () => {
    const { socket, got } = await open();
    // HEADERS of one byte, without END_HEADERS.
    socket.write(`${PREFACE}${SETTINGS}\0\0\x01\x01\x01\0\0\0\x01\x82`, 'latin1');
    // Long before an idle connection would end.
    await expect.poll(() => socket.readableEnded).toBe(true);
    expect(framesOf(got())).toContain(7);
    expect(statuses).toEqual([]);
    socket.destroy();
  });

  it('an idle client that does not close after GOAWAY is disconnected', async () => {
    const own = await edge.listen({ limits: { keepAliveMs: 200, lingerMs: 200 } });
    const [{ socket, got }, listeners] = await bothEnds(() => open(own.port, true));
    const closed = once(listeners, 'close');
    socket.write(PREFACE + SETTINGS, 'latin1');
    await once(socket, 'end');
    expect(framesOf(got())).toContain(7);
    await closed;
    const from = performance.now();
    expect(await own.close(120_000)).toEqual({ cut: 0 });
    expect(performance.now() - from).toBeLessThan(30_000);
    socket.destroy();
  });

  it('an invalid frame after it ends the connection with a connection error', async () => {
    const { socket, got } = await open();
    socket.write(`${PREFACE}${GET}`, 'latin1');
    await once(socket, 'close');
    // GOAWAY is frame type 7.
    expect(framesOf(got())).toContain(7);
    expect(statuses).toEqual([]);
    const other = await open();
    other.socket.write(GET);
    await expect.poll(other.got).toMatch(/ok$/);
    other.socket.destroy();
  });
});

/** The types of the frames that were received. */
function framesOf(got: string): number[] {
  const types: number[] = [];
  const bytes = Buffer.from(got, 'latin1');
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) types.push(bytes[at + 3]!);
  return types;
}
