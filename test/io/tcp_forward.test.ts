import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { forwardTcp } from '../../src/io/tcp_forward.ts';

/** The accepted side of a new connection, and its peer. */
async function connection(): Promise<{ side: Socket; peer: Socket }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const peer = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  peer.on('error', () => undefined);
  const [side] = (await once(server, 'connection')) as [Socket];
  server.close();
  return { side, peer };
}

it('a connection that is cut while the end of its other side is passed on leaves no socket open', async () => {
  const client = await connection();
  const backend = await connection();
  const drain = new AbortController();
  const ended = forwardTcp(client.side, backend.side, { idleMs: 0, drain: drain.signal });
  // After the end was passed on, and before the system has sent it.
  client.side.once('end', () => drain.abort());
  client.peer.end('bytes');
  expect(await ended).toEqual({ bytesIn: 5, bytesOut: 0, cut: 'drain' });
  expect([client.side.closed, backend.side.closed]).toEqual([true, true]);
  client.peer.destroy();
  backend.peer.destroy();
});
