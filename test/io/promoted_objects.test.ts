import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { oneRoute } from '../one_route.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nhost: shop.test\r\naccept-encoding: gzip\r\n\r\n');
const RESPONSE = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1024\r\n\r\n${'a line of text. '.repeat(64)}`,
);
const [WARM_UP, COUNTED] = [4_000, 8_000];
/** Between two collections of young objects. */
const EACH = 40;

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size;
}

// What an object refers to that is dead, but was old, stays until the whole heap is marked.
test('what a compressed response was made of is garbage before it is old', async () => {
  const upstream = createServer((socket) => void socket.on('data', () => socket.write(RESPONSE)));
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  onTestFinished(() => void upstream.close());
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const config = oneRoute({ compression: {} }, { backends: { app: { static: { address } } } });
  const listening = await createEdge(config).listen();
  onTestFinished(() => void listening.close(0));
  const client = connect({ port: listening.port, host: '127.0.0.1' });
  onTestFinished(() => void client.destroy());
  let head = '';
  const ask = async (): Promise<void> => {
    client.write(REQUEST);
    const [bytes] = (await once(client, 'data')) as [Buffer];
    head = bytes.toString('latin1', 0, 200);
  };
  for (let turn = 0; turn < WARM_UP; turn++) await ask();
  expect(head).toContain('content-encoding: gzip');
  collect({ type: 'minor' });
  const before = oldBytes();
  for (let turn = 0; turn < COUNTED; turn++) {
    await ask();
    if (turn % EACH === 0) collect({ type: 'minor' });
  }
  expect((oldBytes() - before) / COUNTED).toBeLessThan(1_000);
});
