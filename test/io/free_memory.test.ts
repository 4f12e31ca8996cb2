import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { freeMemory } from '../../src/io/free_memory.ts';
import { oneRoute } from '../one_route.ts';
import { seededBytes } from '../random.ts';

/** An edge that compresses the responses of an upstream, which all have this content; the port it listens on. */
async function edgeBefore(content: Buffer): Promise<number> {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${content.length}\r\n\r\n`;
  const response = Buffer.concat([Buffer.from(head), content]);
  const upstream = createServer((socket) => {
    socket.on('data', () => void socket.write(response));
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  onTestFinished(() => void upstream.close());
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const config = oneRoute({ compression: {} }, { backends: { app: { static: { address } } } });
  const listening = await createEdge(config).listen();
  onTestFinished(() => void listening.close(0));
  return listening.port;
}

async function ask(port: number): Promise<IncomingMessage> {
  const headers = { host: 'shop.test', 'accept-encoding': 'gzip' };
  const [response] = (await once(get({ port, host: '127.0.0.1', headers }), 'response')) as [IncomingMessage];
  expect(response.headers['content-encoding']).toBe('gzip');
  return response;
}

test('a response that was compressed whole holds no memory when it was sent', async () => {
  const content = Buffer.from('a line of text. '.repeat(6_400));
  const port = await edgeBefore(content);
  let most = 0;
  for (let turn = 0; turn < 400; turn++) {
    expect((await buffer(await ask(port))).length).toBeGreaterThan(0);
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }
  // Without a collection they would hold 13 MB; the client of the test leaves some.
  expect(most).toBeLessThan(5_000_000);
});

// A refused attempt for each response would take longer than compressing it.
test('no attempt is made to free a short one, which is of the pool', async () => {
  const transfer = vi.spyOn(ArrayBuffer.prototype, 'transfer');
  onTestFinished(() => transfer.mockRestore());
  for (const [lines, times] of [
    [64, 0],
    [6_400, 1],
  ] as const) {
    const port = await edgeBefore(Buffer.from('a line of text. '.repeat(lines)));
    await buffer(await ask(port));
    await expect.poll(() => transfer.mock.calls.length).toBe(times);
  }
});

test('clients that read later get all of it', async () => {
  // More than the sockets take at once, so that the end is written later.
  const content = Buffer.from(seededBytes(48_000, 1).toString('hex'));
  const port = await edgeBefore(content);
  const responses = await Promise.all(Array.from({ length: 30 }, () => ask(port)));
  const bodies = await Promise.all(responses.map((response) => buffer(response)));
  for (const body of bodies) expect(gunzipSync(body).equals(content)).toBe(true);
});

test('memory of its own is freed, and the pool of small buffers is not', () => {
  const own = new Uint8Array(100_000);
  freeMemory(own);
  expect(own.length).toBe(0);
  const [one, other] = [Buffer.from('small'), Buffer.from('buffers')];
  freeMemory(one);
  expect(`${String(one)} ${String(other)}`).toBe('small buffers');
});
