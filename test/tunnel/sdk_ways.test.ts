import { type Server, createServer, request } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  type Server as NetServer,
  connect,
  createServer as createTcpServer,
} from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { localAuthority, serverCertificate } from '../../src/cli/local_authority.ts';
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
  }, 60_000);

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
