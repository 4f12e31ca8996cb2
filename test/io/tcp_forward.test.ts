import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
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

it('what comes in one tick is passed on in order, with the end that follows at once', async () => {
  const client = await connection();
  const backend = await connection();
  const drain = new AbortController().signal;
  const sent = Buffer.from(Array.from({ length: 500_000 }, (_, at) => at % 251));
  const got: Buffer[] = [];
  client.peer.on('data', (bytes: Buffer) => got.push(bytes));
  const ended = forwardTcp(client.side, backend.side, { idleMs: 0, drain });
  backend.peer.end(sent);
  client.peer.end();
  expect(await ended).toEqual({ bytesIn: 0, bytesOut: sent.length, cut: 'none' });
  if (!client.peer.readableEnded) await once(client.peer, 'end');
  expect(Buffer.concat(got).equals(sent)).toBe(true);
  backend.peer.destroy();
});

it('one tick gathers at most 256 KiB, and a reader that was stopped for it goes on', async () => {
  const client = await connection();
  const drain = new AbortController().signal;
  const piece = Buffer.alloc(16_384, 1);
  let left = 64;
  // A backend that has everything at once, as a tunnel with a full window.
  const backend = new Duplex({
    read() {
      for (; left > 0; left--) if (!this.push(piece)) return void left--;
      this.push(null);
    },
    write: (_bytes, _encoding, done) => done(),
    highWaterMark: 16 * 2 ** 20,
  });
  let inTick = 0;
  let most = 0;
  backend.on('data', ({ length }: Buffer) => {
    if (inTick === 0) setImmediate(() => (inTick = 0));
    most = Math.max(most, (inTick += length));
  });
  client.peer.resume().end();
  const ended = forwardTcp(client.side, backend, { idleMs: 0, drain });
  expect(await ended).toEqual({ bytesIn: 0, bytesOut: 64 * piece.length, cut: 'none' });
  expect(most).toBe(262_144);
});
