import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Body } from '../../src/io/ports.ts';
import { createUpstreamClient } from '../../src/http1/upstream_client.ts';
import { forwarded } from '../io/forwarded.ts';
import { seeded, seededBytes } from '../random.ts';
import { closing, edgeFor } from './per_test.ts';
import { OK } from './sockets.ts';
import { forwarding } from './test_exchange_port.ts';

/** More than the system takes for a connection whose peer reads nothing. */
const MORE_THAN_TAKEN = 12_000_000;

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** An upstream that answers each request with the hash of its body; those to `/slow` are read only after `release`. */
async function hashing() {
  const waiting: Socket[] = [];
  const server = createServer((socket) => {
    let pending = Buffer.alloc(0);
    let isHeld = false;
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      pending = Buffer.concat([pending, bytes]);
      for (;;) {
        const end = pending.indexOf('\r\n\r\n');
        if (end < 0) return;
        const head = pending.toString('latin1', 0, end);
        if (!isHeld && head.startsWith('POST /slow')) {
          isHeld = true;
          waiting.push(socket.pause());
        }
        const length = Number(/content-length: (\d+)/.exec(head)![1]);
        if (pending.length < end + 4 + length) return;
        const hash = hashOf(pending.subarray(end + 4, end + 4 + length));
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${hash.length}\r\n\r\n${hash}`);
        pending = pending.subarray(end + 4 + length);
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const release = (): void => {
    for (const socket of waiting) socket.resume();
  };
  return { port: (server.address() as AddressInfo).port, waiting, release };
}

test('uploads that wait for their upstream keep their bytes while others come and go', async () => {
  const up = await hashing();
  const at = await edgeFor(forwarding(up.port));
  const open = async (): Promise<Socket> => {
    const socket = connect(at.port, '127.0.0.1').setNoDelay(true);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const send = (socket: Socket, path: string, body: Buffer): void => {
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  };
  const answerOf = async (socket: Socket): Promise<string> => {
    let got = '';
    while (!/\r\n\r\n[0-9a-f]{64}$/.test(got)) got += String((await once(socket, 'data'))[0]);
    return got.slice(-64);
  };
  const slow = await Promise.all(
    Array.from({ length: 4 }, async (_, number) => {
      const socket = await open();
      const body = seededBytes(MORE_THAN_TAKEN, 1).fill(number, 0, 1_000);
      send(socket, '/slow', body);
      return { socket, wanted: hashOf(body), answer: answerOf(socket) };
    }),
  );
  await expect.poll(() => up.waiting.length).toBe(slow.length);
  const random = seeded(3);
  const quick = Array.from({ length: 8 }, async () => {
    const socket = await open();
    for (let turn = 0; turn < 20; turn++) {
      const body = Buffer.alloc(1 + Math.floor(random() * 150_000), Math.floor(random() * 256));
      const answer = answerOf(socket);
      send(socket, '/quick', body);
      expect(await answer).toBe(hashOf(body));
    }
  });
  await Promise.all(quick);
  up.release();
  expect(await Promise.all(slow.map(({ answer }) => answer))).toEqual(slow.map(({ wanted }) => wanted));
});

test('the end of a body tells whether its bytes are free', async () => {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    if (answers) socket.resume().write(OK);
  });
  let answers = true;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = closing(createUpstreamClient());
  const endOf = async (bytes: Buffer): Promise<boolean> => {
    const ended = Promise.withResolvers<boolean>();
    const body: Body = {
      lengthBytes: bytes.length,
      flow: (taker) => {
        taker.take(bytes);
        ended.resolve(taker.end([]));
      },
      resume: () => {},
    };
    const endpoint = { kind: 'static', id: 'app', host: '127.0.0.1', port, tls: false } as const;
    const request = {
      endpoint,
      method: 'POST',
      target: '/',
      headers: ['host', 'a'],
      body: null,
      upgrade: null,
    };
    forwarded(client, request, body);
    return ended.promise;
  };
  expect(await endOf(Buffer.alloc(100_000))).toBe(true);
  answers = false;
  expect(await endOf(Buffer.alloc(MORE_THAN_TAKEN))).toBe(false);
});
