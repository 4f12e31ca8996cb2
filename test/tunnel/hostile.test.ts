import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EdgePorts, type EdgeStats, type Helper, helper } from '../../bench/agents/processes.ts';
import { CALL, type WireAgent, wireAgent } from '../../bench/agents/wire_agent.ts';
import { dial, get } from '../../bench/soak/client.ts';
import type { MuxStream } from '../../src/tunnel/mux/stream.ts';
import { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';
import { folderWith } from '../folder.ts';
import { IS_FULL, SEED, runs } from '../random.ts';
import { Chance, pause } from '../server/faults/chance.ts';
import { ATTACKS } from './hostile_agents.ts';

/** Hostile agents beside a good one. The edge is a process of its own, which runs with `--expose-gc`. */

const ROUNDS = IS_FULL ? runs(40, 5) : 1;
const AT_ONCE = 8;
const MAX_GROWTH_MIB = 40;

const route = (match: string, id: string) => ({
  match_type: 'path_prefix',
  match,
  backend: { backend_id: id },
});
const CONFIG = {
  backends: {
    good: { tunnel_group: { labels: { app: 'good' } } },
    bad: { tunnel_group: { labels: { app: 'bad' } } },
  },
  edges: {
    https: {
      site: { hostports: ['soak.test:443'], routes: [route('/bad', 'bad'), route('/', 'good')] },
    },
    tcp: { one: { hostports: ['1.tcp.test:5432'], backend: { backend_id: 'good' } } },
  },
};

describe('hostile agents', () => {
  let edge: Helper<EdgePorts>;
  let good: WireAgent;
  const app = createServer((got, response) => response.end(`good ${got.url}`));

  beforeAll(async () => {
    const order = { config: CONFIG, tcp: '1.tcp.test:5432', folder: folderWith() };
    edge = await helper('edge_process.ts', order, ['--expose-gc']);
    const { agents: port, ca } = edge.first;
    good = await wireAgent({ port, ca, beatMs: 1_000, serve: served });
    await good.call(CALL.startLabelled, { Labels: { app: 'good' } });
  });

  afterAll(async () => {
    good.connection.close('the test is over');
    await edge.stop();
  });

  function served(stream: MuxStream): StreamDuplex {
    const duplex = new StreamDuplex();
    duplex.attach(stream);
    app.emit('connection', duplex);
    return duplex;
  }

  /** Requests to the good agent until stopped: how many, and those with a wrong answer. */
  async function traffic(stop: { asked: boolean }) {
    let count = 0;
    const wrong: string[] = [];
    const client = await dial(edge.first.plain);
    while (!stop.asked) {
      const answer = await client.ask(get(`/${count}`));
      if (answer?.status !== 200 || answer.content !== `good /${count}`) wrong.push(JSON.stringify(answer));
      count++;
      await pause(3);
    }
    client.socket.destroy();
    return { count, wrong };
  }

  /** Requests to whatever bad agent is online: each is answered. */
  async function badTraffic(stop: { asked: boolean }): Promise<number> {
    let unanswered = 0;
    while (!stop.asked) {
      const client = await dial(edge.first.plain);
      if ((await client.ask(get('/bad'))) === null) unanswered++;
      client.socket.destroy();
      await pause(10);
    }
    return unanswered;
  }

  async function attack(seed: number): Promise<void> {
    const { agents: port, ca } = edge.first;
    const all = Object.values(ATTACKS);
    let next = 0;
    const attacker = async (): Promise<void> => {
      // An attack that is cut off has done its work.
      while (next < all.length) {
        const at = next++;
        await all[at]!({ port, ca }, new Chance(seed + at)).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, attacker));
  }

  test(`${ROUNDS} rounds, seed ${SEED}: no error of the good agent, and memory and descriptors stay`, async () => {
    // The heap has its size after some rounds.
    for (let round = 0; round < ROUNDS / 2; round++) await attack(1_000 + round);
    await expect.poll(sessions, { timeout: 10_000 }).toBe(1);
    const before = await stats();
    const stop = { asked: false };
    const running = [traffic(stop), badTraffic(stop)] as const;
    for (let round = 0; round < ROUNDS; round++) await attack(100 * round);
    stop.asked = true;
    const [{ count, wrong }, unanswered] = await Promise.all(running);
    expect([wrong, unanswered]).toEqual([[], 0]);
    expect(count).toBeGreaterThan(ROUNDS);
    await expect.poll(sessions, { timeout: 10_000 }).toBe(1);
    const after = await stats();
    expect([after.tunnels, after.faults]).toEqual([1, 0]);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + 3);
    expect((after.rss - before.rss) / 2 ** 20).toBeLessThan(MAX_GROWTH_MIB);
  }, 600_000);

  const stats = (): Promise<EdgeStats> => edge.ask({ what: 'stats' });
  const sessions = async (): Promise<number> => (await stats()).sessions;
});
