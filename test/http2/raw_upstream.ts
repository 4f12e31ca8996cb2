import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createEdge } from '../../src/edgeproof.ts';
import { FLAG, FRAME, type Frame, frameReader, PREFACE, SETTINGS_ACK } from './frames.ts';

/**
 * Starts an upstream that calls `take` with each frame of an edge, and an edge that forwards `a.test` to it; returns the edge's
 * port. `greeting` is sent on each connection.
 */
export async function behindRawUpstream(
  greeting: Buffer,
  take: (frame: Frame, socket: Socket) => void,
): Promise<number> {
  const upstream = createServer((socket) => {
    let preface = PREFACE.length;
    const read = frameReader((frame) => {
      if (frame.type === FRAME.settings && (frame.flags & FLAG.ack) === 0) socket.write(SETTINGS_ACK);
      take(frame, socket);
    });
    socket.on('error', () => undefined).write(greeting);
    socket.on('data', (bytes: Buffer) => {
      const skipped = Math.min(preface, bytes.length);
      preface -= skipped;
      read(bytes.subarray(skipped));
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } };
  const edge = createEdge({
    backends: { app: { static: { address, protocol: 'http2' } } },
    edges: { https: { a: { hostports: ['a.test:443'], routes: [route] } } },
  });
  return (await edge.listen({})).port;
}
