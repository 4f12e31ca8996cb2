import { once } from 'node:events';
import { type IncomingMessage, createServer, request } from 'node:http';
import { type AddressInfo, type Server, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { createGunzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { localAuthority, serverCertificate } from '../../src/cli/local_authority.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { explanationOf } from '../../src/edge/explain.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import type { EdgeOptions } from '../../src/edgeproof.ts';
import { httpRequestComplete } from '../../src/events/project.ts';
import {
  type KnownAgents,
  NO_AGENTS,
  compileAgents,
  edgeWithAgents as edgeWith,
} from '../../src/simulator/document/agents.ts';
import { prepareConnection } from '../../src/simulator/document/connections.ts';
import { prepareRequest } from '../../src/simulator/document/requests.ts';
import type { AgentConfig } from '../../src/simulator/document/schema.ts';
import type { SimulatedRequest } from '../../src/simulator/simulated_request.ts';
import { simulatedWorld } from '../../src/simulator/simulator.ts';
import { folderWith } from '../folder.ts';
import { type AgentProcess, NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';
import { type Steps, comparable } from './comparable.ts';

const rules = (...actions: object[]) => ({
  on_http_request: actions.map((action) => ({ actions: [action] })),
});
const forwardTo = (url: string) => rules({ type: 'forward-internal', config: { url } });
const CONFIG = {
  service_name: 'service',
  backends: { spare: { http_response: { status_code: 200, body: 'spare' } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [
          {
            match_type: 'path_prefix',
            match: '/',
            backend: { backend_id: 'spare' },
            traffic_policy: { value: JSON.stringify(forwardTo('https://app.internal')) },
          },
        ],
      },
    },
  },
};

interface Asked {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Options in the words of scenarios, which are those of the SDK. */
type Options = AgentConfig & { readonly url: string };

interface Situation {
  readonly agents: Readonly<Record<string, Options>>;
  readonly asks: readonly Asked[];
  /** Two choices: among endpoints, among tunnels. */
  readonly chances?: readonly number[];
}

const BASIC = `Basic ${Buffer.from('user:password123').toString('base64')}`;
const app = (path: string, rest: Omit<Asked, 'url'> = {}): Asked => ({
  url: `http://app.test${path}`,
  ...rest,
});
const pooled = (rest: object = {}): Options => ({ url: 'https://app.test', pooling_enabled: true, ...rest });

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'nothing online': { agents: {}, asks: [app('/'), { url: 'http://shop.test/' }] },
  'a host': {
    agents: { one: { url: 'https://app.test' } },
    asks: [app('/a?b=c'), app('/', { method: 'POST', body: 'an order' }), { url: 'http://other.test/' }],
  },
  'a scheme without TLS': { agents: { one: { url: 'http://app.test' } }, asks: [app('/')] },
  'a wildcard, and a name below it': {
    agents: { one: { url: 'https://*.app.test' }, two: { url: 'https://a.app.test' } },
    asks: ['a.app.test', 'b.app.test', 'c.b.app.test', 'app.test'].map((host) => ({
      url: `http://${host}/`,
    })),
  },
  'an internal endpoint': {
    agents: { one: { url: 'https://app.internal' } },
    asks: [{ url: 'http://shop.test/in' }, { url: 'http://app.internal/' }],
  },
  'a policy of its own that leads to an internal endpoint': {
    agents: {
      one: { url: 'https://app.test', traffic_policy: forwardTo('https://app.internal') },
      two: {
        url: 'https://app.internal',
        traffic_policy: rules({ type: 'deny', config: { status_code: 418 } }),
      },
    },
    asks: [app('/')],
  },
  'basic auth before its policy': {
    agents: {
      one: {
        url: 'https://app.test',
        basic_auth: ['user:password123'],
        traffic_policy: rules({ type: 'add-headers', config: { headers: { 'x-in': 'yes' } } }),
      },
    },
    asks: [app('/'), app('/', { headers: { authorization: BASIC } })],
  },
  'lists of addresses and user agents': {
    agents: {
      one: {
        url: 'https://app.test',
        ip_restriction_allow_cidrs: ['127.0.0.0/8'],
        ip_restriction_deny_cidrs: ['192.0.2.0/24'],
        allow_user_agent: ['^good'],
        deny_user_agent: ['bad'],
      },
      two: { url: 'https://denied.test', ip_restriction_deny_cidrs: ['127.0.0.0/8'] },
    },
    asks: [
      app('/', { headers: { 'user-agent': 'good' } }),
      app('/', { headers: { 'user-agent': 'bad' } }),
      { url: 'http://denied.test/' },
    ],
  },
  'fields, compression and a breaker': {
    agents: {
      one: {
        url: 'https://app.test',
        request_header_add: ['x-in:1'],
        request_header_remove: ['x-gone'],
        response_header_add: ['x-out:2'],
        response_header_remove: ['x-from'],
        compression: true,
        circuit_breaker: 0.5,
      },
    },
    asks: [app('/', { headers: { 'x-gone': 'a', 'accept-encoding': 'gzip' } })],
  },
  webhooks: {
    agents: {
      one: { url: 'https://app.test', verify_webhook_provider: 'github', verify_webhook_secret: 'whsec' },
    },
    asks: [app('/', { method: 'POST', body: '{}', headers: { 'x-hub-signature-256': 'sha256=00' } })],
  },
  'a pool of equals': { agents: { one: pooled(), two: pooled() }, asks: [app('/')], chances: [0.2, 0.7] },
  'a pool with options of their own': {
    agents: { one: pooled(), two: pooled({ response_header_add: ['x-out:2'] }), three: pooled() },
    asks: [app('/')],
    chances: [0.2, 0.5, 0.8],
  },
};

/** What an agent's upstream responds, live and simulated. */
function answerOf(name: string) {
  return { status: 201, headers: { 'x-from': name, 'content-type': 'text/plain' }, body: `from ${name}` };
}

const report = (code: string, pointer: string, message: string): never => {
  throw new Error(`${code} ${pointer} ${message}`);
};

function simulated(config: EdgeConfig, agents: Situation['agents'], chance: number) {
  const fixture = edgeFixture(config, () => null);
  const world = simulatedWorld(fixture, { startMs: 0, seed: 1, random: () => chance });
  const given = Object.entries(agents).map(([name, options]): [string, AgentConfig] => [
    name,
    { ...options, upstream: answerOf(name) },
  ]);
  let known: KnownAgents = NO_AGENTS;
  const change = (changed: Readonly<Record<string, AgentConfig>>): void => {
    const compiled = compileAgents(changed, '', known, config, report);
    ({ known } = compiled);
    world.agents.change(compiled.changes);
  };
  change(Object.fromEntries(given));
  const setting = { defaults: {}, host: 'app.test', tls: {}, startMs: 0, signer: null, report };
  return {
    change,
    send: (asked: Asked) => {
      let ended: SimulatedRequest | null = null;
      world.begin(prepareRequest({ ip: '127.0.0.1', ...asked }, '', setting)!, (each) => void (ended = each));
      world.settle();
      const { response, exchange } = ended!;
      const got = { ...response, body: new TextDecoder().decode(response.body) };
      return comparable(got, httpRequestComplete(exchange), explanationOf(exchange, () => null).steps);
    },
    connect: (to: string) => {
      const prepared = prepareConnection({ to, ip: '127.0.0.1' }, '', edgeWith(config, known), setting)!;
      const outcome = world.connect(prepared).close(0, 0);
      const decidedBy = explanationOf(outcome.exchange, () => null).decidedBy.code;
      return [outcome.connection, decidedBy, outcome.agent];
    },
  };
}

describe.skipIf(NO_SDK !== null)(
  `endpoints of agents, simulated and real${NO_SDK === null ? '' : `: ${NO_SDK}`}`,
  () => {
    let agent: AgentProcess;
    const servers = new Map<string, Server>();

    beforeAll(() => void (agent = agentProcess()));
    afterAll(() => {
      agent.child.kill('SIGKILL');
      for (const server of servers.values()) server.close();
    });

    async function portOf(name: string): Promise<number> {
      let server = servers.get(name);
      if (server === undefined) {
        const { status, headers, body } = answerOf(name);
        server = createServer((asked, response) =>
          asked.resume().on('end', () => response.writeHead(status, headers).end(body)),
        );
        servers.set(name, server.listen(0, '127.0.0.1'));
        await once(server, 'listening');
      }
      return (server.address() as AddressInfo).port;
    }

    /** Binds with the SDK; only its builder knows pools. */
    async function bind(name: string, { url, traffic_policy: policy, ...options }: Options, session: object) {
      const { protocol, host } = new URL(url.replace('*', 'x-any'));
      const proto = protocol.slice(0, -1);
      const place = proto === 'tcp' ? { remote_addr: host } : { domain: host.replace('x-any', '*') };
      const given = {
        addr: await portOf(name),
        proto: proto === 'https' ? 'http' : proto,
        ...(proto === 'http' && { schemes: ['HTTP'] }),
        ...place,
        ...options,
        ...(policy !== undefined && { traffic_policy: JSON.stringify(policy) }),
        force_new_session: true,
        authtoken: 'x',
        ...session,
      };
      const code =
        options.pooling_enabled === true
          ? `const s = await new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr).rootCas(value.root_cas).connect();
           let b = s.httpEndpoint().domain(value.domain).poolingEnabled(true);
           for (const each of value.response_header_add ?? []) b = b.responseHeader(...each.split(':'));
           kept.l ??= []; kept.l.push(await b.listenAndForward('http://127.0.0.1:' + value.addr)); return s.id?.()`
          : 'kept.l ??= []; kept.l.push(await ngrok.forward(value))';
      await agent.run(code, given);
    }

    async function live(agents: Situation['agents'], chance: number) {
      const seen: { event: unknown; steps: Steps }[] = [];
      const connections: string[][] = [];
      const options: EdgeOptions = {
        random: () => chance,
        onEvent: ({ object }, explain) => seen.push({ event: object, steps: explain().steps }),
        onConnection: (_event, explain) => connections.push([explain().outcome, explain().decidedBy.code]),
      };
      const edge = await edgeWithAgents(CONFIG, {}, options);
      const names = new Map<string, string>();
      const online = async (name: string): Promise<void> => {
        await bind(name, agents[name]!, edge.session);
        const tunnel = edge.agents.tunnels.all().find(({ id }) => !names.has(id))!;
        names.set(tunnel.id, name);
        if (!names.has(tunnel.endpointId!)) names.set(tunnel.endpointId!, `ep_${name}`);
      };
      for (const name of Object.keys(agents)) await online(name);
      onTestFinished(
        async () =>
          void (await agent.run('for (const l of kept.l?.splice(0) ?? []) await l.close().catch(() => {})')),
      );
      const renamed = <Value>(value: Value): Value => {
        let json = JSON.stringify(value);
        for (const [id, name] of names) json = json.replaceAll(id, name);
        return JSON.parse(json) as Value;
      };
      return {
        ...edge,
        online,
        close: () => agent.run('await kept.l.pop().close()'),
        send: async ({ method = 'GET', url, headers = {}, body = '' }: Asked) => {
          const { pathname, search, host } = new URL(url);
          const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
          const asked = request(edge.listening.url + pathname + search, {
            method,
            headers: { ...headers, ...length, host },
            agent: false,
          });
          asked.end(body);
          const [response] = (await once(asked, 'response')) as [IncomingMessage];
          const isPacked = response.headers['content-encoding'] === 'gzip';
          // Simulated bodies are shown before their compression.
          const content = await text(isPacked ? response.pipe(createGunzip()) : response);
          await expect.poll(() => seen.length).toBe(1);
          const { event, steps } = seen.pop()!;
          const got = { status: response.statusCode!, headers: response.rawHeaders, body: content };
          return renamed(comparable(got, event, steps));
        },
        /** With a server name, after a handshake with the edge or the upstream, if there is one. */
        connect: async (port: number, servername?: string) => {
          const place = { port, host: '127.0.0.1' };
          const tls = { ...place, servername: servername ?? '', rejectUnauthorized: false };
          const socket = (servername === undefined ? connect(place) : connectTls(tls))
            .on('error', () => undefined)
            .resume();
          // A client that leaves during its handshake reaches nothing.
          if (servername === undefined) socket.end();
          else socket.once('secureConnect', () => socket.end());
          // Errors are an end as any other.
          await new Promise((resolve) => void socket.once('close', resolve));
          await expect.poll(() => connections.length).toBe(1);
          return connections.pop();
        },
      };
    }

    const cases = Object.entries(SITUATIONS).flatMap(([name, { chances = [0] }]) =>
      chances.map((chance) => [name, chance] as const),
    );
    test.each(cases)('%s, with chance %d', async (name, chance) => {
      const { agents, asks } = SITUATIONS[name]!;
      const real = await live(agents, chance);
      const given = simulated(real.edge.config, agents, chance);
      for (const asked of asks)
        expect({ asked, got: given.send(asked) }).toEqual({ asked, got: await real.send(asked) });
    });

    test('TCP, with lists of addresses', async () => {
      const agents: Situation['agents'] = {
        open: { url: 'tcp://1.tcp.test:5432' },
        shut: { url: 'tcp://1.tcp.test:5433', ip_restriction_deny_cidrs: ['127.0.0.0/8'] },
      };
      const real = await live(agents, 0);
      const given = simulated(real.edge.config, agents, 0);
      for (const [name, port] of [
        ['open', 5432],
        ['shut', 5433],
      ] as const) {
        const listensOn = real.listening.ports().find((each) => each.port === port)!.listensOn;
        const [connection, decidedBy] = given.connect(`1.tcp.test:${port}`);
        expect([name, connection, decidedBy]).toEqual([name, ...(await real.connect(listensOn))!]);
      }
    });

    test('TLS that is passed through or ends at the edge, with lists of addresses and policies', async () => {
      const authority = await localAuthority(folderWith());
      const { certificatePem: crt, privateKeyPem: key } = serverCertificate(authority, 'ended.test');
      const denies = { on_tcp_connect: [{ actions: [{ type: 'deny' }] }] };
      const agents: Situation['agents'] = {
        passed: { url: 'tls://passed.test' },
        ended: { url: 'tls://ended.test', crt, key },
        wild: { url: 'tls://*.wild.test', crt, key },
        shut: { url: 'tls://shut.test', crt, key, ip_restriction_deny_cidrs: ['127.0.0.0/8'] },
        passed_shut: { url: 'tls://passed-shut.test', ip_restriction_deny_cidrs: ['127.0.0.0/8'] },
        denied: { url: 'tls://denied.test', crt, key, traffic_policy: denies },
        passed_denied: { url: 'tls://passed-denied.test', traffic_policy: denies },
      };
      const real = await live(agents, 0);
      const given = simulated(real.edge.config, agents, 0);
      const outcomes: unknown[] = [];
      for (const { url } of Object.values(agents)) {
        const host = url.slice('tls://'.length).replace('*', 'a');
        const [connection, decidedBy] = given.connect(`${host}:443`);
        expect([host, connection, decidedBy]).toEqual([
          host,
          ...(await real.connect(real.listening.tlsPort!, host))!,
        ]);
        outcomes.push(decidedBy);
      }
      expect(outcomes).toEqual(Array(3).fill('upstream.connected').concat(outcomes.slice(3)));
      expect(outcomes.slice(3)).not.toContain('upstream.connected');
    });

    test('an endpoint goes with its agent, and comes back', async () => {
      const agents: Situation['agents'] = { one: { url: 'https://app.test' } };
      const real = await live(agents, 0);
      const given = simulated(real.edge.config, agents, 0);
      const same = async () => expect(given.send(app('/'))).toEqual(await real.send(app('/')));
      await same();
      given.change({ one: { online: false } });
      await real.close();
      await same();
      given.change({ one: { online: true } });
      await real.online('one');
      await same();
    });
  },
);
