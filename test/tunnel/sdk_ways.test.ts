import { type Server, createServer, request } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  type Server as NetServer,
  type Socket,
  connect,
  createServer as createTcpServer,
} from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { localAuthority, serverCertificate } from '../../src/cli/local_authority.ts';
import { Heartbeats } from '../../src/tunnel/heartbeats.ts';
import { folderWith } from '../folder.ts';
import { IS_FULL } from '../random.ts';
import { type AgentProcess, NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';

function get(url: string, host: string, path = '/'): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url + path, { headers: { host }, agent: false }, (response) => {
      let text = '';
      response.on('data', (bytes) => (text += bytes));
      response.on('end', () => resolve(response.statusCode === 200 ? text : String(response.statusCode)));
    })
      .on('error', reject)
      .end();
  });
}

async function listening<Any extends NetServer>(server: Any, at: number | string = 0): Promise<Any> {
  if (typeof at === 'string') server.listen(at);
  else server.listen(at, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return server;
}

const portOf = (server: NetServer): number => (server.address() as AddressInfo).port;

const SESSION = `const builder = new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr).rootCas(value.root_cas);`;

describe.skipIf(NO_SDK !== null)('ways to use the published SDK', () => {
  let agent: AgentProcess;
  beforeAll(() => {
    agent = agentProcess();
  });
  afterAll(() => void agent.child.kill('SIGKILL'));

  const app = (): Promise<Server> =>
    listening(createServer((incoming, response) => response.end(`app ${incoming.url}`)));

  test.each([
    [
      'connect',
      `const l = await ngrok.connect({ ...value, addr: value.port, authtoken: 'x', force_new_session: true });`,
    ],
    [
      'listen, then forward',
      `${SESSION}
       const l = await (await builder.connect()).httpEndpoint().domain(value.domain).listen();
       void l.forward('http://127.0.0.1:' + value.port);`,
    ],
    [
      'listenAndServe',
      `${SESSION}
       const { createServer } = await import('node:http');
       const server = createServer((incoming, response) => response.end('app ' + incoming.url));
       const l = await (await builder.connect()).httpEndpoint().domain(value.domain).listenAndServe(server);`,
    ],
    [
      'ngrok.listen',
      `${SESSION}
       const { createServer } = await import('node:http');
       const l = await (await builder.connect()).httpEndpoint().domain(value.domain).listen();
       ngrok.listen(createServer((incoming, response) => response.end('app ' + incoming.url)), l);`,
    ],
    [
      'the scheme http',
      `${SESSION}
       const l = await (await builder.connect()).httpEndpoint().scheme('http').domain(value.domain)
         .listenAndForward('http://127.0.0.1:' + value.port);`,
    ],
  ])('%s', async (_name, code) => {
    const { session, listening: at } = await edgeWithAgents();
    const value = { port: portOf(await app()), domain: 'way.localhost', ...session };
    expect(await agent.run(`${code} return l.url()`, value)).toMatch(/^https?:\/\/way\.localhost:\d+$/);
    expect(await get(at.url, 'way.localhost', '/path?q')).toBe('app /path?q');
  });

  test('an upstream at a unix socket', async () => {
    const place = join(folderWith(), 'app.sock');
    await listening(
      createServer((_, response) => response.end('by the socket')),
      place,
    );
    const { session, listening: at } = await edgeWithAgents();
    await agent.run(
      `${SESSION}
       await (await builder.connect()).httpEndpoint().domain('unix.localhost').listenAndForward('unix:' + value.place);`,
      { place, ...session },
    );
    expect(await get(at.url, 'unix.localhost')).toBe('by the socket');
  });

  test('an https upstream, whose certificate is verified unless that is off', async () => {
    const authority = await localAuthority(folderWith());
    const { certificatePem: cert, privateKeyPem: key } = serverCertificate(authority, 'localhost');
    const upstream = createHttpsServer({ cert, key }, (_, response) => response.end('over TLS'));
    const { session, listening: at } = await edgeWithAgents();
    const port = portOf(await listening(upstream));
    const forward = (domain: string, verify: boolean) =>
      agent.run(
        `${SESSION}
         await (await builder.connect()).httpEndpoint().domain(value.domain).verifyUpstreamTls(value.verify)
           .listenAndForward('https://localhost:' + value.port);`,
        { domain, verify, port, ...session },
      );
    await forward('off.localhost', false);
    await forward('on.localhost', true);
    expect(await get(at.url, 'off.localhost')).toBe('over TLS');
    expect(await get(at.url, 'on.localhost')).toBe('502');
  });

  test('PROXY protocol 1 and 2, for TCP and HTTP', async () => {
    const server = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', (bytes: Buffer) => {
          const told = bytes.subarray(0, 12).toString('latin1').startsWith('\r\n\r\n\0\r\nQUIT\n')
            ? `v2 ${bytes[12]! & 15} ${[...bytes.subarray(16, 20)].join('.')} ${bytes.readUInt16BE(24)}`
            : bytes.toString('latin1').split('\r\n')[0]!;
          socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${told.length}\r\nconnection: close\r\n\r\n${told}`);
        });
    });
    const port = portOf(await listening(server));
    const { session, listening: at } = await edgeWithAgents();
    const bind = (version: string, scheme: string) =>
      agent.run(
        `${SESSION}
         const s = await builder.connect();
         const e = value.scheme === 'tcp' ? s.tcpEndpoint() : s.httpEndpoint().domain('proxy' + value.version + '.localhost');
         return (await e.proxyProto(value.version).listenAndForward('tcp://127.0.0.1:' + value.port)).url();`,
        { version, scheme, port, ...session },
      ) as Promise<string>;
    for (const [version, form] of [
      ['1', /PROXY TCP4 127\.0\.0\.1 [\d.]+ (\d+) \d+$/],
      ['2', /v2 1 127\.0\.0\.1 (\d+)$/],
    ] as const) {
      const socket = connect(Number(new URL(await bind(version, 'tcp')).port), '127.0.0.1');
      const text = await new Promise<string>((resolve) => {
        let all = '';
        socket.on('data', (bytes) => (all += bytes)).on('end', () => resolve(all));
        socket.write('some bytes of a client');
      });
      expect(form.exec(text)?.[1]).toBe(String(socket.localPort));
      await bind(version, 'http');
      expect(await get(at.url, `proxy${version}.localhost`)).toMatch(form);
    }
  });

  test('a session is held by its heartbeats, and resumed after its connection is cut', async () => {
    const { session, agents } = await edgeWithAgents();
    await agent.run(
      `kept.beats = [];
       ${SESSION}
       const s = await builder.heartbeatInterval(1).heartbeatTolerance(1).handleHeartbeat((ms) => kept.beats.push(ms)).connect();
       await s.tcpEndpoint().metadata('held').listen();`,
      session,
    );
    const [first] = agents.sessions();
    const wanted = IS_FULL ? 43 : 2;
    const beatsSoFar = () => agent.run('return kept.beats') as Promise<(number | null)[]>;
    await expect
      .poll(async () => (await beatsSoFar()).length, { timeout: 55_000, interval: 200 })
      .toBeGreaterThanOrEqual(wanted);
    const beats = await beatsSoFar();
    expect(beats).not.toContain(null);
    expect(agents.sessions()).toEqual([first]);
    first!.session.close('cut');
    const next = () => agents.sessions().find((each) => each.session !== first!.session);
    await expect.poll(next).toMatchObject({ id: first!.id, startedMs: first!.startedMs });
    await expect.poll(() => agents.tunnels.all().map(({ metadata }) => metadata)).toEqual(['held']);
  });

  test('an address instead of a name, for which the certificate is valid, too', async () => {
    const { session, listening: at } = await edgeWithAgents();
    const url = await agent.run(
      `${SESSION}
       const s = await builder.connect();
       return (await s.httpEndpoint().domain('address.localhost').listenAndForward('http://127.0.0.1:' + value.port)).url();`,
      { ...session, server_addr: `127.0.0.1:${at.agentsPort}`, port: portOf(await app()) },
    );
    expect(url).toMatch(/^https:\/\/address\.localhost:/);
    expect(await get(at.url, 'address.localhost')).toBe('app /');
  });

  test('answers the beats of the edge, and is lost when it answers none', async () => {
    const beaten = agentProcess();
    onTestFinished(() => void beaten.child.kill('SIGKILL'));
    const { session, agents } = await edgeWithAgents();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    await beaten.run(`${SESSION} await builder.connect();`, session);
    const [{ session: held }] = agents.sessions() as unknown as [{ session: { isOpen: boolean } }];
    const alive = vi.spyOn(Heartbeats.prototype as unknown as { data: () => void }, 'data');
    onTestFinished(() => alive.mockRestore());
    // The agent itself beats every 10 s, and no such time passes: the edge asks after 17.5 s of its own clock.
    for (let beat = 1; beat <= 3; beat++) {
      vi.advanceTimersByTime(17_600);
      while (alive.mock.calls.length < beat) await new Promise((resolve) => setImmediate(resolve));
    }
    expect([held.isOpen, agents.sessions().length]).toEqual([true, 1]);
    beaten.child.kill('SIGSTOP');
    vi.advanceTimersByTime(17_600);
    vi.advanceTimersByTime(7_500);
    while (held.isOpen) await new Promise((resolve) => setImmediate(resolve));
    expect(agents.sessions()).toEqual([]);
  });

  test('connects again after a reset, an end and a GOAWAY, with all of its tunnels', async () => {
    const { session, agents, listening: at } = await edgeWithAgents();
    const port = portOf(await app());
    const between = new Set<Socket>();
    const cutter = createTcpServer((socket) => {
      const edge = connect(at.agentsPort!, '127.0.0.1');
      for (const each of [socket, edge]) each.on('error', () => undefined);
      between.add(socket.on('close', () => (between.delete(socket), edge.destroy())));
      socket.pipe(edge).pipe(socket);
    });
    const server_addr = `localhost:${portOf(await listening(cutter))}`;
    await agent.run(
      `${SESSION}
       const s = await builder.connect();
       const to = 'http://127.0.0.1:' + value.port;
       await s.httpEndpoint().domain('again.localhost').listenAndForward(to);
       await s.labeledListener().label('app', 'again').listenAndForward(to);
       await s.tcpEndpoint().listenAndForward('tcp://127.0.0.1:' + value.port);`,
      { ...session, server_addr, port },
    );
    const [first] = agents.sessions();
    const bound = () => [
      agents.tunnels
        .all()
        .map(({ id }) => id)
        .toSorted(),
      agents.endpoints
        .all()
        .map(({ host }) => host)
        .toSorted(),
    ];
    const before = bound();
    const cuts = [
      () => between.forEach((socket) => socket.resetAndDestroy()),
      () => between.forEach((socket) => socket.end()),
      () => agents.sessions()[0]!.session.close('cut'),
    ];
    for (const cut of cuts) {
      const last = agents.sessions()[0]!.session;
      cut();
      await expect.poll(() => agents.sessions()[0]?.session ?? last).not.toBe(last);
      await expect.poll(bound).toEqual(before);
      expect(agents.sessions()[0]).toMatchObject({ id: first!.id, startedMs: first!.startedMs });
      expect(await get(at.url, 'again.localhost')).toBe('app /');
    }
  });

  test('a restart by the handler of the program: another session takes its place', async () => {
    const restarted = agentProcess();
    onTestFinished(() => void restarted.child.kill('SIGKILL'));
    const { session, agents, listening: at } = await edgeWithAgents();
    const start = `${SESSION}
      const s = await builder.metadata(value.name).handleRestartCommand(() => setTimeout(() => process.exit(), 10)).connect();
      await s.httpEndpoint().domain('again.localhost').listenAndForward('http://127.0.0.1:' + value.port);`;
    const port = portOf(await app());
    await restarted.run(start, { name: 'before', port, ...session });
    const [{ id }] = agents.sessions() as unknown as [{ id: string }];
    expect(await agents.command(id, 'restart')).toBeNull();
    await expect.poll(() => agents.sessions()).toEqual([]);
    await agent.run(start.replace('process.exit()', 'undefined'), { name: 'after', port, ...session });
    expect(agents.sessions()).toMatchObject([{ facts: { metadata: 'after' } }]);
    expect(agents.sessions()[0]!.id).not.toBe(id);
    expect(await get(at.url, 'again.localhost')).toBe('app /');
  });
});
