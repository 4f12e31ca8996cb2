import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { collectGarbageWith } from '../../src/io/young_garbage.ts';
import { forwardTcp } from '../../src/io/tcp_forward.ts';

afterAll(() => collectGarbageWith(() => undefined));

/** An accepted connection, and its peer, which sends this many bytes and takes what comes. */
async function connection(bytes: number): Promise<Socket> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const peer = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  peer.resume().end(Buffer.alloc(bytes));
  const [side] = (await once(server, 'connection')) as [Socket];
  server.close();
  return side;
}

test('young garbage is collected while a transfer goes on, each 2 MiB', async () => {
  let collected = 0;
  collectGarbageWith(() => void collected++);
  const [client, backend] = await Promise.all([connection(7 * 2 ** 20), connection(2 ** 20)]);
  const drain = new AbortController().signal;
  const { bytesIn, bytesOut } = await forwardTcp(client, backend, { idleMs: 0, drain });
  expect([bytesIn, bytesOut]).toEqual([7 * 2 ** 20, 2 ** 20]);
  expect(collected).toBe(4);
});
