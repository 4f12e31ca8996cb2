import { once } from 'node:events';
import { type IncomingMessage, createServer, request } from 'node:http';
import { type AddressInfo, type Server, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { explanationOf } from '../../src/edge/explain.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import type { EdgeOptions } from '../../src/edgeproof.ts';
import { httpRequestComplete } from '../../src/events/project.ts';
import { replayedEdge } from '../../src/replay/decide.ts';
import { readRecording } from '../../src/replay/read_recording.ts';
import type { RecordedExchange } from '../../src/replay/recording.ts';
import { recordingSink } from '../../src/replay/recording_sink.ts';
import { replay } from '../../src/replay/replay.ts';
import { offlineCodeOf } from '../../src/replay/recorded_tunnels.ts';
import { scenarioWriter } from '../../src/replay/to_scenario.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { runFile, ONCE } from '../../src/simulator/run_file.ts';
import { onlineAgents } from '../../src/simulator/search/draft.ts';
import { prepareConnection } from '../../src/simulator/document/connections.ts';
import { NO_AGENTS, compileAgents } from '../../src/simulator/document/agents.ts';
import { prepareRequest } from '../../src/simulator/document/requests.ts';
import type { AgentConfig } from '../../src/simulator/document/schema.ts';
import type { SimulatedRequest } from '../../src/simulator/simulated_request.ts';
import { simulatedWorld } from '../../src/simulator/simulator.ts';
import { type Steps, comparable } from './comparable.ts';
import { type AgentProcess, NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';

const LABELS = { app: 'shop' };
const CONFIG = {
  backends: {
    shop: { tunnel_group: { labels: LABELS } },
    spare: { http_response: { status_code: 200, body: 'spare' } },
    safe: { failover: ['shop', 'spare'] },
  },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [
          { match_type: 'path_prefix', match: '/', backend: { backend_id: 'shop' } },
          { match_type: 'path_prefix', match: '/safe', backend: { backend_id: 'safe' } },
        ],
      },
    },
    tcp: { db: { hostports: ['1.tcp.test:5432'], backend: { backend_id: 'shop' } } },
  },
};

/** What an agent's upstream does, live and as scenarios say it. */
const UPSTREAMS = {
  one: { status: 201, headers: { 'x-from': 'one' }, body: 'from one' },
  two: { status: 200, headers: { 'x-from': 'two' }, body: 'from two' },
  reset: 'reset',
  refuse: 'refuse',
} as const;
type Kind = keyof typeof UPSTREAMS;

/** The agents of a situation, in the order in which they connect. */
const SITUATIONS: readonly (readonly Kind[])[] = [
  [],
  ['one'],
  ['one', 'two'],
  ['reset'],
  ['reset', 'two'],
  ['refuse'],
];
const REQUESTS = [
  { method: 'GET', path: '/a?b=c' },
  { method: 'HEAD', path: '/' },
  { method: 'POST', path: '/', body: 'an order' },
  { method: 'GET', path: '/safe' },
];
/** Two values of chance, for each of two agents one. */
const CHANCES = [0.2, 0.7];

function simulated(config: EdgeConfig, kinds: readonly Kind[], chance: number) {
  const world = simulatedWorld(
    edgeFixture(config, () => null),
    {
      startMs: 0,
      seed: 1,
      random: () => chance,
    },
  );
  const report = (code: string): never => {
    throw new Error(code);
  };
  const agents = Object.fromEntries(
    kinds.map((kind): [string, AgentConfig] => [kind, { labels: LABELS, upstream: UPSTREAMS[kind] }]),
  );
  world.agents.change(compileAgents(agents, '', NO_AGENTS, config, report).changes);
  const setting = { defaults: {}, host: 'shop.test', tls: {}, startMs: 0, signer: null, report };
  return {
    send: ({ method, path, body }: { method: string; path: string; body?: string }) => {
      const given = { method, url: `http://shop.test${path}`, ...(body !== undefined && { body }) };
      let ended: SimulatedRequest | null = null;
      world.begin(prepareRequest(given, '', setting)!, (each) => void (ended = each));
      world.settle();
      const { response, exchange } = ended!;
      const got = { ...response, body: method === 'HEAD' ? '' : new TextDecoder().decode(response.body) };
      return comparable(got, httpRequestComplete(exchange), explanationOf(exchange, () => null).steps);
    },
    connect: () => {
      const outcome = world.connect(prepareConnection('1.tcp.test:5432', '', config, setting)!).close(0, 0);
      return [outcome.connection, explanationOf(outcome.exchange, () => null).decidedBy.code];
    },
  };
}

function converted(config: EdgeConfig, lines: readonly RecordedExchange[]): string {
  const writer = scenarioWriter({
    edge: './edge.yaml',
    backends: ['shop'],
    agents: onlineAgents(config),
    offlineCode: offlineCodeOf(config.service_name),
  });
  for (const [at, line] of lines.entries()) writer.take(readRecording(line, at + 1) as never);
  return writer.text();
}

describe.skipIf(NO_SDK !== null)(`agents, simulated and real${NO_SDK === null ? '' : `: ${NO_SDK}`}`, () => {
  let agent: AgentProcess;
  const servers: Server[] = [];
  const ports = {} as Record<Kind, number>;

  beforeAll(async () => {
    agent = agentProcess();
    for (const kind of Object.keys(UPSTREAMS) as Kind[]) {
      const upstream = UPSTREAMS[kind];
      const server = createServer((asked, response) => {
        if (typeof upstream === 'string') asked.socket.destroy();
        else
          asked
            .resume()
            .on('end', () => response.writeHead(upstream.status, upstream.headers).end(upstream.body));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      ports[kind] = (server.address() as AddressInfo).port;
      if (kind === 'refuse') server.close();
      else servers.push(server);
    }
  });
  afterAll(() => {
    agent.child.kill('SIGKILL');
    for (const server of servers) server.close();
  });

  async function live(kinds: readonly Kind[], chance: number) {
    const lines: RecordedExchange[] = [];
    const seen: { event: unknown; steps: Steps }[] = [];
    const connections: string[][] = [];
    const options: EdgeOptions = {
      random: () => chance,
      recordingSink: recordingSink((line) => lines.push(JSON.parse(JSON.stringify(line))), 65_536),
      onEvent: ({ object }, explain) => seen.push({ event: object, steps: explain().steps }),
      onConnection: (_event, explain) => connections.push([explain().outcome, explain().decidedBy.code]),
    };
    const { agents, edge, listening, session } = await edgeWithAgents(
      { ...CONFIG, service_name: 'service' },
      {},
      options,
    );
    const names = new Map<string, string>();
    for (const kind of kinds) {
      await agent.run('kept.l ??= []; kept.l.push(await ngrok.forward(value))', {
        force_new_session: true,
        authtoken: 'x',
        addr: ports[kind],
        proto: 'labeled',
        labels: 'app:shop',
        ...session,
      });
      const found = agents.tunnels.all().find(({ id }) => !names.has(id))!;
      names.set(found.id, kind);
    }
    onTestFinished(
      async () =>
        void (await agent.run('for (const l of kept.l?.splice(0) ?? []) await l.close().catch(() => {})')),
    );
    return {
      config: edge.config,
      lines,
      send: async ({ method, path, body }: { method: string; path: string; body?: string }) => {
        const asked = request(listening.url + path, { method, headers: { host: 'shop.test' }, agent: false });
        asked.end(body);
        const [response] = (await once(asked, 'response')) as [IncomingMessage];
        const content = await text(response);
        await expect.poll(() => seen.length).toBe(1);
        const { event, steps } = seen.pop()!;
        const got = { status: response.statusCode!, headers: response.rawHeaders, body: content };
        return comparable(got, event, steps, names);
      },
      connect: async () => {
        const port = listening.ports().find(({ kind }) => kind === 'tcp')!.listensOn;
        const socket = connect(port, '127.0.0.1')
          .on('error', () => undefined)
          .resume();
        socket.end();
        await once(socket, 'close');
        await expect.poll(() => connections.length).toBe(1);
        return connections.pop();
      },
    };
  }

  const cases = SITUATIONS.flatMap((kinds): (readonly [readonly Kind[], number])[] =>
    kinds.length < 2 ? [[kinds, 0]] : CHANCES.map((chance) => [kinds, chance]),
  );
  test.each(cases)('%j with chance %d', async (kinds, chance) => {
    const real = await live(kinds, chance);
    const given = simulated(real.config, kinds, chance);
    for (const asked of REQUESTS)
      expect({ asked, got: given.send(asked) }).toEqual({ asked, got: await real.send(asked) });
    expect(given.connect()).toEqual(await real.connect());
    // As cases of a scenario it passes.
    const written = checkScenario({ name: 'x.yaml', text: converted(real.config, real.lines) });
    const { cases: results } = runFile(
      written,
      edgeFixture(real.config, () => null),
      ONCE,
    );
    expect(results.map(({ status }) => status)).toEqual(REQUESTS.map(() => 'passed'));
    // What was recorded is decided as it was, alone and against itself.
    for (const current of [null, replayedEdge(real.config)]) {
      const running = replay(replayedEdge(real.config), current);
      for (const [at, line] of real.lines.entries()) running.take(readRecording(line, at + 1) as never);
      expect(running.summary()).toMatchObject({ records: REQUESTS.length, same: REQUESTS.length });
    }
  });
});
