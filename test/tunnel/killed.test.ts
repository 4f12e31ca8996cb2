import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dial, get, post } from '../../bench/soak/client.ts';
import { folderWith } from '../folder.ts';
import { IS_FULL, SEED, runs } from '../random.ts';
import { Chance, pause } from '../server/faults/chance.ts';
import { type AgentProcess, NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';
import { alive, expectFlat } from './alive.ts';
import type { EdgePlace } from './edge_program.ts';

const AGENT_KILLS = IS_FULL ? runs(20, 4) : 1;
const EDGE_KILLS = runs(10, 3);
const IN_FLIGHT = 100;
/** The reasons with which a request may end while agents come and go. */
const REASONS = new Set(['upstream.answered', 'upstream.reset', 'upstream.connect', 'backend.offline']);

const CONFIG = {
  backends: { app: { tunnel_group: { labels: { app: 'soak' } } } },
  edges: {
    https: {
      site: {
        hostports: ['soak.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
      },
    },
  },
};

/** Clients that each have one request in flight, until `stop`; every request has a number. */
function load(portOf: () => number) {
  const statuses: Record<string, number> = {};
  /** Requests after whose answer the same connection had another one. */
  const settled = new Set<string>();
  const state = { isOver: false, asked: 0, inFlight: 0 };
  const client = async (): Promise<void> => {
    while (!state.isOver) {
      // The edge may not be there for a while.
      const to = await dial(portOf()).catch(() => null);
      let last = '';
      if (to === null) {
        await pause(20);
        continue;
      }
      while (!to.over() && !state.isOver) {
        const id = String(state.asked++);
        state.inFlight++;
        const answer = await to.ask(
          state.asked % 3 === 0 ? post(`/?id=${id}`, 'content') : get(`/?id=${id}`),
        );
        state.inFlight--;
        // Null: the connection ended before its answer.
        const status = answer?.status ?? 'cut';
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (answer !== null && last !== '') settled.add(last);
        last = answer === null ? '' : id;
      }
      to.socket.destroy();
    }
  };
  const clients = Array.from({ length: IN_FLIGHT }, client);
  return {
    statuses,
    settled,
    state,
    busy: async () => {
      await expect.poll(() => state.inFlight > IN_FLIGHT / 2, { timeout: 200_000 }).toBe(true);
    },
    stop: async () => {
      state.isOver = true;
      await Promise.all(clients);
      return state.asked;
    },
  };
}

function idIn(request: string): string {
  return /id=(\d+)/.exec(request)![1]!;
}

describe.skipIf(NO_SDK !== null)(
  `processes that are killed under load${NO_SDK === null ? '' : `: ${NO_SDK}`}`,
  () => {
    const chance = new Chance(SEED + 29);
    const app = createServer((_got, response) => {
      setTimeout(() => response.end('x'.repeat(chance.below(20_000))), chance.below(4));
    });
    let addr: number;
    beforeAll(async () => {
      app.listen(0, '127.0.0.1');
      await once(app, 'listening');
      addr = (app.address() as AddressInfo).port;
    });
    afterAll(() => {
      app.close();
      app.closeAllConnections();
    });

    test(`${AGENT_KILLS} agents: each request ends once, with a reason, and nothing of them is left`, async () => {
      const events = new Map<string, string[]>();
      const { agents, listening, session } = await edgeWithAgents(
        CONFIG,
        {},
        {
          onEvent: ({ object }, explain) => {
            const id = idIn(JSON.stringify(object.http.request));
            events.set(id, [...(events.get(id) ?? []), explain().decidedBy.code]);
          },
        },
      );
      const online = async (): Promise<AgentProcess> => {
        const agent = agentProcess();
        const value = { addr, proto: 'labeled', labels: 'app:soak', authtoken: 'x', ...session };
        await agent.run('kept.l = await ngrok.forward(value)', value);
        return agent;
      };
      const running = [await online(), await online()];
      const before = alive();
      const { statuses, busy, stop } = load(() => listening.port);
      for (let kill = 0; kill < AGENT_KILLS; kill++) {
        await busy();
        await pause(chance.below(30));
        const [killed] = running.splice(chance.below(2), 1);
        killed!.child.kill('SIGKILL');
        await expect.poll(() => agents.tunnels.all().length, { interval: 5 }).toBe(1);
        if (IS_FULL) running.push(await online());
        else running.push(killed!);
      }
      const asked = await stop();
      for (const { child } of running) child.kill('SIGKILL');
      await expect.poll(() => [agents.sessions().length, agents.tunnels.all().length]).toEqual([0, 0]);
      expect(Object.keys(statuses).filter((each) => !['200', '502', '503', 'cut'].includes(each))).toEqual(
        [],
      );
      expect(statuses['200']).toBeGreaterThan(AGENT_KILLS);
      await expect.poll(() => events.size).toBe(asked);
      expect([...events].filter(([, codes]) => codes.length !== 1 || !REASONS.has(codes[0]!))).toEqual([]);
      await expectFlat(before);
    }, 300_000);

    test.skipIf(!IS_FULL)(
      `${EDGE_KILLS} edges: agents reconnect to the next one at the same store, and resume their binds (full run only)`,
      async () => {
        const folder = folderWith();
        const events = new Map<string, number>();
        const spawned: ChildProcess[] = [];
        const standBy = async (): Promise<ChildProcess> => {
          const child = fork(join(import.meta.dirname, 'edge_program.ts'), { execArgv: [], silent: true });
          spawned.push(child);
          child.stderr!.pipe(process.stderr);
          createInterface(child.stdout!).on('line', (line) => {
            const id = idIn(line);
            events.set(id, (events.get(id) ?? 0) + 1);
          });
          await once(child, 'message');
          return child;
        };
        const place: EdgePlace = { storePath: join(folder, 'store.db'), folder, port: 0, agentsPort: 0 };
        const start = async (child: ChildProcess, at: EdgePlace) => {
          child.send(at);
          return (await once(child, 'message'))[0] as {
            port: number;
            agentsPort: number;
            token: string;
            root: string;
          };
        };
        const resources = async (child: ChildProcess): Promise<number> => {
          child.send('count');
          const [{ resources: all }] = (await once(child, 'message')) as [{ resources: string[] }];
          return all.filter((each) => /TCP|TLS/.test(each)).length;
        };
        const agent = agentProcess();
        const descriptors = (): number => readdirSync(`/proc/${agent.child.pid}/fd`).length;
        try {
          let edge = await standBy();
          const { port, agentsPort, token, root } = await start(edge, place);
          const at = { ...place, port, agentsPort };
          const value = { addr, domain: 'soak.test', authtoken: token, root_cas: root };
          const url = await agent.run('kept.l = await ngrok.forward(value); return kept.l.url()', {
            ...value,
            server_addr: `localhost:${agentsPort}`,
          });
          const answered = async (): Promise<number | undefined> => {
            const to = await dial(port).catch(() => null);
            const answer = await to?.ask(get('/?id=0'));
            to?.socket.destroy();
            return answer?.status;
          };
          expect(await answered()).toBe(200);
          const [calm, before] = [await resources(edge), descriptors()];
          events.clear();
          const { statuses, settled, state, busy, stop } = load(() => port);
          state.asked = 1;
          for (let kill = 0; kill < EDGE_KILLS; kill++) {
            const next = await standBy();
            await busy();
            await pause(chance.below(50));
            edge.kill('SIGKILL');
            await once(edge, 'close');
            await start(next, at);
            edge = next;
            // The SDK tries at once, after 50 ms, after 2.5 s, and then after two minutes.
            await expect.poll(answered, { interval: 50, timeout: 200_000 }).toBe(200);
          }
          await stop();
          expect(await agent.run('return kept.l.url()')).toBe(url);
          const known = new Set(['200', '404', '502', '503', 'cut']);
          expect(Object.keys(statuses).filter((each) => !known.has(each))).toEqual([]);
          expect(statuses['200']).toBeGreaterThan(EDGE_KILLS);
          // What a killed edge had in flight has no event; what it had finished has one.
          await expect.poll(() => [...settled].filter((id) => events.get(id) !== 1)).toEqual([]);
          events.delete('0');
          expect([...events].filter(([, count]) => count !== 1)).toEqual([]);
          await expect.poll(() => resources(edge), { timeout: 30_000 }).toBeLessThanOrEqual(calm);
          await expect.poll(descriptors, { timeout: 30_000 }).toBeLessThanOrEqual(before);
        } finally {
          agent.child.kill('SIGKILL');
          for (const child of spawned) child.kill('SIGKILL');
        }
      },
      600_000,
    );
  },
);
