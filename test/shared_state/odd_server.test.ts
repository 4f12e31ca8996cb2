import { type AddressInfo, type Socket, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redisState } from '../../src/shared_state/redis.ts';
import type { SharedState } from '../../src/shared_state/port.ts';
import { MEET } from '../../src/shared_state/redis_scripts.ts';
import { digest } from '../../src/crypto/digest.ts';

// A server that speaks the protocol of Redis, and whose scripts do not answer as Redis does: something between, or another product.

let odd = '+OK\r\n';
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  let waiting = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    waiting += bytes.toString();
    for (let words = firstOf(waiting); words !== null; words = firstOf(waiting)) {
      waiting = waiting.slice(words.units);
      socket.write(answerTo(words.words));
    }
  });
});

/** The first command of a text, and its length; null if it is not whole. */
function firstOf(text: string): { readonly words: readonly string[]; readonly units: number } | null {
  const [head = '', ...lines] = text.split('\r\n');
  const count = Number(head.slice(1));
  if (head === '' || lines.length < count * 2 + 1) return null;
  const own = lines.slice(0, count * 2);
  return {
    words: own.filter((_, index) => index % 2 === 1),
    units: [head, ...own].join('\r\n').length + 2,
  };
}

function answerTo([verb = '', name]: readonly string[]): string {
  if (verb === 'INFO') return '$10\r\nrun_id:abc\r\n';
  if (verb === 'XREAD') return '*-1\r\n';
  if (verb === 'EVALSHA') return name === digest('sha1', [MEET], 'hex') ? ':0\r\n' : odd;
  return '+OK\r\n';
}

let state: SharedState;
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  state = await redisState({
    url: `redis://127.0.0.1:${port}`,
    whenUnavailable: 'deny',
    answerMs: 5_000,
    say: () => undefined,
  });
});
afterAll(async () => {
  await state.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

it.each(['+OK\r\n', '$-1\r\n', '$1\r\n0\r\n', '*0\r\n'])(
  'the answer %j does not admit a request',
  async (answer) => {
    odd = answer;
    expect(await state.ask({ do: 'take', limit: 'a', key: 'b', capacity: 1, windowMs: 60_000 })).toEqual({
      unavailable: 'deny',
      detail: 'an answer that is not one of Redis',
    });
  },
);

it('a number does', async () => {
  odd = ':0\r\n';
  expect(await state.ask({ do: 'take', limit: 'a', key: 'b', capacity: 1, windowMs: 60_000 })).toEqual({
    waitMs: 0,
  });
});
