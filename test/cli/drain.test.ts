import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { folderWith } from '../folder.ts';
import { start } from './command.ts';

// A stop with real sockets: the drain is longer than the tests may take, so a test that ends shows that nothing waited.

const LONG = '10m';
const folder = folderWith();
let upstream: Server;
let port: number;
const slow: ServerResponse[] = [];
const upstreamCloses: number[] = [];

beforeAll(async () => {
  upstream = createServer((request, response) => {
    if (request.url === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
    } else {
      slow.push(response);
    }
  });
  const sockets = new WebSocketServer({ server: upstream });
  sockets.on('connection', (socket, { url }) => {
    if (url === '/silent') socket.pause();
    socket.on('close', (code) => upstreamCloses.push(code));
    socket.send('hello');
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  ({ port } = upstream.address() as AddressInfo);
});
afterAll(() => upstream.closeAllConnections());

async function served(...options: string[]) {
  const running = start(['http', String(port), '--port', '0', '--no-tls', ...options], folder);
  const [, url] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  return { running, url: url! };
}

async function webSocketOf(url: string, path = '/') {
  const socket = new WebSocket(url.replace('http', 'ws') + path);
  const closed = once(socket, 'close') as Promise<[number]>;
  await once(socket, 'message');
  return { socket, closed };
}

it('Ctrl-C closes WebSockets with a close frame and ends event streams, without the drain', async () => {
  const { running, url } = await served('--drain', LONG);
  const { closed } = await webSocketOf(url);
  const events = (await fetch(`${url}/events`)).body!.getReader();
  expect(Buffer.from((await events.read()).value!).toString()).toBe('data: first\n\n');
  const code = running.stop('SIGINT');
  expect((await closed)[0]).toBe(1001);
  expect((await events.read()).done).toBe(true);
  expect(await code).toBe(0);
  await expect.poll(() => upstreamCloses).toEqual([1001]);
  expect(running.output()).not.toContain('closed after');
});

// The time is that of a whole process, which others on the machine can delay.
it(
  'a stop takes less than a second with a WebSocket whose peers do not answer the close frame',
  { retry: 2 },
  async () => {
    const { running, url } = await served('--drain', LONG);
    const { socket } = await webSocketOf(url, '/silent');
    socket.pause();
    const beganMs = performance.now();
    expect(await running.stop('SIGINT')).toBe(0);
    expect(performance.now() - beganMs).toBeLessThan(1_000);
    socket.terminate();
  },
);

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'requests in flight are waited for after %s',
  async (signal) => {
    const { running, url } = await served('--drain', LONG);
    const order: string[] = [];
    const answer = fetch(`${url}/slow`).then(async (response) => {
      const text = await response.text();
      order.push(`answered ${text}`);
      return null;
    });
    await expect.poll(() => slow).toHaveLength(1);
    const { closed } = await webSocketOf(url);
    const ended = running.stop(signal).then((code) => order.push(`ended with ${code}`));
    await closed;
    slow.splice(0).forEach((response) => response.end('late'));
    await Promise.all([answer, ended]);
    expect(order).toEqual(['answered late', 'ended with 0']);
  },
);

it('a second Ctrl-C ends at once', async () => {
  const { running, url } = await served('--drain', LONG);
  const broken = fetch(`${url}/slow`).catch(() => 'broken');
  await expect.poll(() => slow.length, { timeout: 10_000 }).toBe(1);
  void running.stop('SIGINT');
  await running.waitFor(/draining; repeat to stop at once/);
  expect(await running.stop('SIGINT')).toBe(130);
  expect(await broken).toBe('broken');
});

it('--drain bounds the wait, and the connections that it cut are counted', async () => {
  slow.length = 0;
  const { running, url } = await served('--drain', '50ms');
  const broken = fetch(`${url}/slow`).catch(() => 'broken');
  await expect.poll(() => slow.length, { timeout: 10_000 }).toBe(1);
  expect(await running.stop('SIGINT')).toBe(0);
  expect(await broken).toBe('broken');
  expect(running.output()).toContain('1 connection was closed after 0.05 s');
});
