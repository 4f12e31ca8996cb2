import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { redisConnection } from '../../src/clients/redis.ts';
import { redisState } from '../../src/shared_state/redis.ts';

/**
 * What a shared limit adds to a request: `node bench/shared_state/run.ts [seconds] [per second]`. Four nodes in one process ask a
 * Redis of this machine at a steady pace; `ping` is the round trip of the connection alone.
 */
const [seconds = 10, perSecond = 5_000] = process.argv.slice(2).map(Number);
const NODES = 4;
const TICK_MS = 2;

const port = await freePort();
const server = spawn('redis-server', ['--port', String(port), '--save', ''], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
for await (const piece of server.stdout) if (String(piece).includes('eady to accept')) break;
const url = `redis://127.0.0.1:${port}`;
const nodes = await Promise.all(
  Array.from({ length: NODES }, () => redisState({ url, whenUnavailable: 'deny', say: console.error })),
);
const connection = redisConnection({ url, pendingLimit: 20_000, silenceMs: 5_000 });
// It may report its own end.
connection.on('error', () => undefined);
await connection.connect();

const capacity = Math.round((seconds * perSecond) / 2);
const ask = (at: number) =>
  nodes[at % NODES]!.ask({ do: 'take', limit: 'bench', key: 'one', capacity, windowMs: 86_400_000 });
const answers = await paced('take', async (at) => ask(at));
await paced('ping', () => connection.sendCommand(['PING']));
const admitted = answers.filter((answer) => 'waitMs' in answer && answer.waitMs === 0).length;
const failed = answers.filter((answer) => 'unavailable' in answer).length;
console.log(`admitted ${admitted} of a limit of ${capacity}, without an answer ${failed}`);
for (const { close } of nodes) await close();
connection.destroy();
server.kill('SIGKILL');

/** Asks at a steady pace; a slow answer holds up no other. */
async function paced<Answer>(name: string, send: (at: number) => Promise<Answer>): Promise<Answer[]> {
  const tooks: number[] = [];
  const asked: Promise<Answer>[] = [];
  const began = performance.now();
  for (;;) {
    const passedMs = performance.now() - began;
    const due = Math.min(seconds * perSecond, Math.floor((passedMs / 1_000) * perSecond));
    while (asked.length < due) {
      const sent = performance.now();
      const answer = send(asked.length);
      asked.push(answer);
      void answer.then(() => tooks.push(performance.now() - sent));
    }
    if (due === seconds * perSecond) break;
    await pause(TICK_MS);
  }
  const all = await Promise.all(asked);
  tooks.sort((one, other) => one - other);
  const at = (share: number) => tooks[Math.floor((tooks.length - 1) * share)]!.toFixed(2);
  console.log(
    `${name}: ${tooks.length} at ${perSecond} a second  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  max ${at(1)} ms`,
  );
  return all;
}

async function freePort(): Promise<number> {
  const own = createServer().listen(0, '127.0.0.1');
  await once(own, 'listening');
  const free = (own.address() as AddressInfo).port;
  own.close();
  await once(own, 'close');
  return free;
}
