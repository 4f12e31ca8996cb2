import { once } from 'node:events';
import { connect as connectHttp2, createServer, type Http2Session } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { queryObjects } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { oneRoute } from '../one_route.ts';
import { type RawUpstream, rawUpstream } from '../server/faults/raw_upstream.ts';
import { FRAME, frameReader, goaway, headers, ping, PREFACE, request, settings } from './frames.ts';

const CONNECTIONS = 12;

/** The class of Node's sessions of both sides, which it does not export. */
async function sessionClass(): Promise<() => Http2Session> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.destroy();
  server.close();
  return Object.getPrototypeOf(client.constructor) as () => Http2Session;
}

/** Collects garbage, too. */
const inMemory = (type: () => Http2Session): number => queryObjects(type, { format: 'count' });

describe('sessions', () => {
  let Session: () => Http2Session;
  let upstream: RawUpstream | undefined;
  let listening: Listening | undefined;

  beforeAll(async () => {
    Session = await sessionClass();
    // Says goodbye with its response, and goes on sending, until the edge ends the connection altogether.
    upstream = await rawUpstream(
      (socket) => {
        const sending = setInterval(() => socket.write(ping()), 50);
        socket.once('close', () => clearInterval(sending));
        socket.write(settings());
        let preface = PREFACE.length;
        const read = frameReader(({ type, stream }) => {
          if (type !== FRAME.headers) return;
          socket.write(Buffer.concat([goaway(stream, 0), headers(stream, [[':status', '204']])]));
        });
        socket.on('data', (bytes: Buffer) => {
          const skipped = Math.min(preface, bytes.length);
          preface -= skipped;
          read(bytes.subarray(skipped));
        });
      },
      { allowHalfOpen: true },
    );
    const app = { static: { address: upstream.address, protocol: 'http2' } };
    const edge = createEdge(oneRoute({}, { backends: { app } }));
    listening = await edge.listen({ upstreamLimits: { idleConnectionMs: 200 } });
  });
  afterAll(async () => {
    await listening?.close(0);
    await upstream?.close();
  });

  it('that have closed are not kept, on either side, nor are their connections', async () => {
    const before = inMemory(Session);
    for (let count = 0; count < CONNECTIONS; count++) {
      const client = connect(listening!.port, '127.0.0.1');
      client.write(Buffer.concat([PREFACE, settings(), request(1, '/', { authority: 'shop.test' })]));
      await new Promise<void>((resolve) => {
        const read = frameReader(({ type }) => void (type === FRAME.headers && resolve()));
        client.on('data', read);
      });
      client.destroy();
    }
    await expect.poll(() => upstream!.open).toBe(0);
    // The stack of the test may still hold one of each side.
    await expect.poll(() => inMemory(Session) - before, { interval: 1_000 }).toBeLessThanOrEqual(2);
  });
});
