import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { redisConnection } from '../../src/clients/redis.ts';
import { redisState } from '../../src/shared_state/redis.ts';
import { REDIS_SERVER, ownRedis } from '../../test/shared_state/redis_server.ts';
import { type BenchSection, intervalText, overBlocks, quantile, render, sized } from '../measure.ts';

/**
 * What a shared limit adds to a request: `node bench/shared_state/run.ts [pairs] [per second]`. Four nodes in one process
 * ask a Redis of this machine at a steady pace; `ping` is the round trip of the connection alone. The two take turns in
 * blocks of one second, because the slowest percent of one long run tells what else the machine did: a pair of blocks has
 * the same machine, and the median over blocks leaves out those that were held up.
 */
const NODES = 4;
const TICK_MS = 2;
const BLOCK_SECONDS = 1;

interface Block {
  readonly p50: number;
  readonly p99: number;
}

/** Asks at a steady pace for one block; a slow answer holds up no other. Only the times are kept: garbage counts as latency. */
async function block<Answer>(
  total: number,
  send: () => Promise<Answer>,
  take: (answer: Answer) => void,
): Promise<Block> {
  const tooks = new Float64Array(total);
  const { promise: all, resolve, reject } = Promise.withResolvers<void>();
  let answered = 0;
  const ask = async (): Promise<void> => {
    const sent = performance.now();
    const answer = await send();
    tooks[answered++] = performance.now() - sent;
    take(answer);
    if (answered === total) resolve();
  };
  const began = performance.now();
  for (let asked = 0; asked < total;) {
    const passed = (performance.now() - began) / 1_000 / BLOCK_SECONDS;
    for (const due = Math.min(total, Math.floor(passed * total)); asked < due; asked++) ask().catch(reject);
    await pause(TICK_MS);
  }
  await all;
  const times = Array.from(tooks);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

export async function run(pairs = sized(15, 2), perSecond = sized(5_000, 500)): Promise<BenchSection> {
  const title = 'Shared limits: the answer of a Redis of this machine';
  if (REDIS_SERVER === null) return { title, rows: [], notes: ['not measured: redis-server missing'] };
  const { url, close } = await ownRedis();
  const nodes = await Promise.all(
    Array.from({ length: NODES }, () => redisState({ url, whenUnavailable: 'deny', say: console.error })),
  );
  const connection = redisConnection({ url, pendingLimit: 20_000, silenceMs: 5_000 });
  // It may report its own end.
  connection.on('error', () => undefined);
  await connection.connect();
  try {
    const total = perSecond * BLOCK_SECONDS;
    const capacity = Math.round((pairs * total) / 2);
    const limit = { do: 'take', limit: 'bench', key: 'one', capacity, windowMs: 86_400_000 } as const;
    let at = 0;
    let [admitted, failed] = [0, 0];
    const take = () =>
      block(
        total,
        async () => nodes[at++ % NODES]!.ask(limit),
        (answer) => {
          if ('unavailable' in answer) failed++;
          else if ('waitMs' in answer && answer.waitMs === 0) admitted++;
        },
      );
    const ping = () =>
      block(
        total,
        () => connection.sendCommand(['PING']),
        () => undefined,
      );
    // What is compiled first is not measured; it counts nothing that the limit would see.
    await ping();
    const blocks: { readonly take: Block; readonly ping: Block }[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      // Each goes first in turn.
      const first = pair % 2 === 0 ? await take() : null;
      const pinged = await ping();
      blocks.push({ take: first ?? (await take()), ping: pinged });
    }
    const over = (of: (each: (typeof blocks)[number]) => number) => overBlocks(blocks.map(of));
    const rows = (['p50', 'p99'] as const).map((share) => ({
      name: `take, ${share} of a block`,
      ours: over((each) => each.take[share]).value,
      unit: 'ms',
      peers: { ping: over((each) => each.ping[share]).value },
    }));
    const added = (['p50', 'p99'] as const).map(
      (share) => `${share} ${intervalText(over((each) => each.take[share] - each.ping[share]))} ms`,
    );
    return {
      title,
      rows,
      floors: ['ping'],
      between: 'the script that counts, and on our side the question and the reading of its answer',
      notes: [
        `take − ping: ${added.join(', ')}: medians over pairs of blocks, with their 95 % bootstrap intervals`,
        `${pairs} pairs of blocks of ${BLOCK_SECONDS} s, ${perSecond.toLocaleString('en')} questions a second from ${NODES} nodes of one process`,
        `admitted ${admitted.toLocaleString('en')} of a limit of ${capacity.toLocaleString('en')}, without an answer ${failed}`,
      ],
    };
  } finally {
    for (const node of nodes) await node.close();
    connection.destroy();
    await close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [pairs, perSecond] = process.argv.slice(2).map(Number);
  process.stdout.write(render(await run(pairs, perSecond)));
}
