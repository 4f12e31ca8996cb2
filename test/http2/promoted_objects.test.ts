import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { oneRoute } from '../one_route.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;

const RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const [WARM_UP, COUNTED] = [4_000, 24_000];
/** Streams at once, and between two collections of young objects. */
const [PARALLEL, EACH] = [64, 640];

/** Sends requests over one connection from a heap of its own. */
const CLIENT = `
const { connect } = require('node:http2');
const { parentPort, workerData: { port, parallel } } = require('node:worker_threads');
const session = connect('http://shop.test', { createConnection: () => require('node:net').connect(port, '127.0.0.1') });
const ask = () => new Promise((resolve, reject) => session.request().on('error', reject).on('close', resolve).resume().end());
parentPort.on('message', async (count) => {
  for (let left = count; left > 0; left -= parallel) await Promise.all(Array.from({ length: parallel }, ask));
  parentPort.postMessage('done');
});`;

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size;
}

// What an object refers to that is dead, but was old, stays until the whole heap is marked.
test('what a stream was made of is garbage before it is old', async () => {
  const upstream = createServer((socket) => void socket.on('data', () => socket.write(RESPONSE)));
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  onTestFinished(() => void upstream.close());
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const listening = await createEdge(oneRoute({}, { backends: { app: { static: { address } } } })).listen();
  onTestFinished(() => void listening.close(0));
  const worker = new Worker(CLIENT, {
    eval: true,
    workerData: { port: listening.port, parallel: PARALLEL },
  });
  onTestFinished(() => void worker.terminate());
  const ask = async (count: number): Promise<void> => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
    worker.postMessage(count);
    await once(worker, 'message');
  };
  await ask(WARM_UP);
  collect({ type: 'minor' });
  const before = oldBytes();
  for (let done = 0; done < COUNTED; done += EACH) {
    await ask(EACH);
    collect({ type: 'minor' });
  }
  expect((oldBytes() - before) / COUNTED).toBeLessThan(500);
});
