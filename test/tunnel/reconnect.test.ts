import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { type WireAgent, CALL, wireAgent } from '../../bench/agents/wire_agent.ts';
import { dial, get, post } from '../../bench/soak/client.ts';
import type { MuxStream } from '../../src/tunnel/mux/stream.ts';
import { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';
import { IS_FULL, SEED, runs } from '../random.ts';
import { Chance, pause } from '../server/faults/chance.ts';
import { edgeWithAgents } from './agent.ts';
import { alive, expectFlat } from './alive.ts';

const CUTS = runs(200, 6);
const IN_FLIGHT = 100;
const SESSIONS = runs(1_000, 20);
const BINDS = runs(1_000, 20);

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

test(`${CUTS} reconnects, seed ${SEED}: every request has one answer and one event, and nothing is left`, async () => {
  const events = new Map<string, number>();
  const { agents, listening, authority } = await edgeWithAgents(
    CONFIG,
    {},
    {
      onEvent: ({ object }) => {
        const id = /id=(\d+)/.exec(JSON.stringify(object.http.request))![1]!;
        events.set(id, (events.get(id) ?? 0) + 1);
      },
    },
  );
  const ca = readFileSync(authority.file, 'utf8');
  const chance = new Chance(18);
  const app = createServer((_got, response) => {
    setTimeout(() => response.end('x'.repeat(chance.below(40_000))), chance.below(4));
  });
  const serve = (stream: MuxStream): StreamDuplex => {
    const duplex = new StreamDuplex();
    duplex.attach(stream);
    app.emit('connection', duplex);
    return duplex;
  };
  const state = { isOver: false, agent: null as WireAgent | null, connections: 0 };
  const ids = new Set<string>();
  const online = async (): Promise<void> => {
    while (!state.isOver) {
      const resumes = state.agent?.session;
      const agent = await wireAgent({ port: listening.agentsPort!, ca, serve, ...(resumes && { resumes }) });
      const { Id } = (await agent.call(CALL.startLabelled, { Labels: { app: 'soak' } })) ?? {};
      if (Id !== undefined) ids.add(`${agent.session.clientId} ${JSON.stringify(Id)}`);
      state.agent = agent;
      state.connections++;
      await agent.closed;
    }
  };
  let asked = 0;
  let inFlight = 0;
  const statuses: Record<string, number> = {};
  const client = async (): Promise<void> => {
    while (!state.isOver) {
      const to = await dial(listening.port);
      while (!to.over() && !state.isOver) {
        const id = asked++;
        inFlight++;
        const answer = await to.ask(id % 3 === 0 ? post(`/?id=${id}`, 'content') : get(`/?id=${id}`));
        inFlight--;
        // The head had been sent when the session was lost.
        const status = answer?.status ?? 'cut';
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      to.socket.destroy();
    }
  };
  /** A function of its own: the frame of the test would keep the last session alive. */
  const cut = (byAgent: boolean): void => {
    if (byAgent) state.agent!.socket.destroy();
    else agents.sessions()[0]?.session.close('cut by the test');
  };
  const before = alive();
  const connected = online();
  const clients = Array.from({ length: IN_FLIGHT }, client);
  for (let times = 0; times < CUTS; times++) {
    const last = state.connections;
    await expect
      .poll(() => state.agent !== null && agents.tunnels.all().length === 1 && inFlight > IN_FLIGHT / 2)
      .toBe(true);
    await pause(chance.below(20));
    cut(chance.is(0.5));
    await expect.poll(() => state.connections > last, { interval: 5 }).toBe(true);
  }
  state.isOver = true;
  await Promise.all(clients);
  state.agent!.socket.destroy();
  await connected;
  state.agent = null;
  await expect.poll(() => [agents.sessions().length, agents.tunnels.all().length]).toEqual([0, 0]);
  expect(ids.size).toBe(1);
  expect(Object.keys(statuses).filter((each) => !['200', '502', '503', 'cut'].includes(each))).toEqual([]);
  expect(statuses['200']).toBeGreaterThan(CUTS);
  await expect.poll(() => events.size).toBe(asked);
  expect([...events].filter(([, count]) => count !== 1)).toEqual([]);
  await expectFlat(before);
}, 300_000);

test(`${SESSIONS} sessions come and go, and nothing of them is left`, async () => {
  const { agents, listening, authority } = await edgeWithAgents(CONFIG);
  const ca = readFileSync(authority.file, 'utf8');
  const one = async (number: number): Promise<void> => {
    const agent = await wireAgent({
      port: listening.agentsPort!,
      ca,
      beatMs: 5_000,
      serve: () => new StreamDuplex(),
    });
    await agent.call(CALL.startLabelled, { Labels: { app: `a${number}` } });
    if (number % 3 === 0) agent.connection.close('enough');
    else agent.socket.destroy();
    await agent.closed;
  };
  await one(0);
  await expect.poll(() => agents.sessions().length).toBe(0);
  const before = alive();
  for (let made = 0; made < SESSIONS; made += 10)
    await Promise.all(Array.from({ length: 10 }, (_, at) => one(made + at)));
  await expect.poll(() => [agents.sessions().length, agents.tunnels.all().length]).toEqual([0, 0]);
  await expectFlat(before);
}, 300_000);

test(`${BINDS} binds and unbinds leave nothing`, async () => {
  const { agents, edge, listening, authority } = await edgeWithAgents();
  const ca = readFileSync(authority.file, 'utf8');
  const agent = await wireAgent({
    port: listening.agentsPort!,
    ca,
    beatMs: 5_000,
    serve: () => new StreamDuplex(),
  });
  const bind = async (number: number): Promise<void> => {
    const Opts = number % 4 === 0 ? {} : { Domain: `n${number}.localhost` };
    const bound = await agent.call(CALL.bind, {
      Id: '',
      Proto: number % 4 === 0 ? 'tcp' : 'https',
      Opts,
      Extra: {},
    });
    expect(bound).toMatchObject({ URL: expect.stringContaining('localhost') });
    expect(await agent.call(CALL.unbind, { Id: bound!['Id'] })).toEqual({});
  };
  const maps = (): number => (IS_FULL ? queryObjects(Map, { format: 'count' }) : 0);
  for (let number = 0; number < 8; number++) await bind(number);
  const [before, mapsBefore] = [alive(), maps()];
  for (let number = 8; number < BINDS; number++) await bind(number);
  expect([agents.endpoints.all(), agents.tunnels.all(), edge.runtime.current().https]).toEqual([[], [], []]);
  await expectFlat(before);
  // Configurations consist of maps. A leak is at least one map for each bind.
  expect(maps()).toBeLessThan(mapsBefore + BINDS / 2);
  agent.socket.destroy();
  await agent.closed;
}, 300_000);
