import { createHash } from 'node:crypto';
import { createServer, request as send } from 'node:http';
import { type AddressInfo, type Server, connect, createServer as createTcpServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seededBytes } from '../random.ts';
import { type AgentProcess, NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';

/** An app on loopback that answers what it was asked. */
async function app(handler: Parameters<typeof createServer>[1] = echo): Promise<number> {
  return portOf(createServer(handler as never));
}

/** Listens on loopback until the test has finished. */
async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function echo(
  request: Parameters<NonNullable<Parameters<typeof createServer>[1]>>[0],
  response: Parameters<NonNullable<Parameters<typeof createServer>[1]>>[1],
): void {
  response.end(`${request.method} ${request.url} ${request.headers.host}`);
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function get(
  url: string,
  host: string,
  options: { path?: string; headers?: object; body?: Buffer } = {},
): Promise<Got> {
  const { path = '/', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const request = send(
      url + path,
      {
        headers: { host, 'user-agent': 'test', ...headers },
        method: body === undefined ? 'GET' : 'POST',
        agent: false,
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (bytes: Buffer) => pieces.push(bytes));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text: Buffer.concat(pieces).toString('latin1'),
          }),
        );
      },
    );
    request.on('error', reject).end(body);
  });
}

describe.skipIf(NO_SDK !== null)(`the published SDK${NO_SDK === null ? '' : `: ${NO_SDK}`}`, () => {
  let agent: AgentProcess;
  beforeAll(() => {
    agent = agentProcess();
  });
  afterAll(() => void agent.child.kill('SIGKILL'));

  /** Forwards with a session of its own, and returns the URL and the id. */
  const forward = async (options: object) =>
    (await agent.run('const l = await ngrok.forward(value); return { url: l.url(), id: l.id() }', {
      force_new_session: true,
      authtoken: 'abc',
      ...options,
    })) as { readonly url: string; readonly id: string };

  test('forwards HTTP on a chosen host, with keep-alive, and names its URL', async () => {
    const port = await app();
    const { listening, session, agents } = await edgeWithAgents();
    const { url, id } = await forward({ addr: port, domain: 'app.localhost', metadata: 'm', ...session });
    expect(url).toBe(`https://app.localhost:${listening.tlsPort}`);
    const got = await get(listening.url, 'app.localhost', { path: '/x?y=1' });
    expect([got.status, got.text]).toEqual([200, 'GET /x?y=1 app.localhost']);
    const unknown = await get(listening.url, 'other.localhost');
    expect([unknown.status, unknown.headers['ngrok-error-code']]).toEqual([404, 'ERR_NGROK_3200']);
    expect(agents.tunnels.all()).toMatchObject([{ id, metadata: 'm', proto: 'https' }]);
    expect(agents.sessions()).toMatchObject([{ facts: { version: '1.7.0', os: process.platform } }]);
  });

  test('assigns a host to an agent that names none, and frees it when the agent is gone', async () => {
    const port = await app();
    const { listening, session, agents } = await edgeWithAgents();
    const { url } = await forward({ addr: port, ...session });
    const host = /^https:\/\/([a-z0-9]{12}\.localhost):\d+$/.exec(url)![1]!;
    expect((await get(listening.url, host)).status).toBe(200);
    const [first] = agents.sessions();
    agents.close('test');
    await expect.poll(() => agents.sessions().some((each) => each.session === first!.session)).toBe(false);
    // The agent connects again, and asks for the same host.
    await expect.poll(async () => (await get(listening.url, host)).status).toBe(200);
  });

  test('carries large bodies both ways, and many requests at once', async () => {
    const port = await app((request, response) => {
      const hash = createHash('sha256');
      request.on('data', (bytes: Buffer) => hash.update(bytes));
      request.on('end', () => {
        const size = Number(request.headers['x-size'] ?? 0);
        response.setHeader('x-hash', hash.digest('hex')).end(Buffer.alloc(size, 'z'));
      });
    });
    const { listening, session } = await edgeWithAgents();
    await forward({ addr: port, domain: 'big.localhost', ...session });
    const body = seededBytes(3_000_000, 1);
    const got = await get(listening.url, 'big.localhost', { body, headers: { 'x-size': '3000000' } });
    expect(got.headers['x-hash']).toBe(createHash('sha256').update(body).digest('hex'));
    expect(got.text.length).toBe(3_000_000);
    const many = await Promise.all(
      Array.from({ length: 150 }, () =>
        get(listening.url, 'big.localhost', { headers: { 'x-size': '1000' } }),
      ),
    );
    expect(new Set(many.map(({ status, text }) => `${status} ${text.length}`))).toEqual(
      new Set(['200 1000']),
    );
  });

  test('upgraded options: basic auth, CIDR lists, user agents, headers, compression, circuit breaker', async () => {
    const port = await app((request, response) =>
      response.end(`${String(request.headers['x-added'])} ${'compressible '.repeat(200)}`),
    );
    const { listening, session } = await edgeWithAgents();
    await forward({
      addr: port,
      domain: 'all.localhost',
      basic_auth: ['user:password123'],
      ip_restriction_allow_cidrs: ['127.0.0.0/8'],
      ip_restriction_deny_cidrs: ['127.9.0.0/16'],
      deny_user_agent: ['bad'],
      compression: true,
      circuit_breaker: 0.5,
      request_header_add: ['x-added:yes'],
      response_header_add: ['x-out:1'],
      ...session,
    });
    const authorization = `Basic ${Buffer.from('user:password123').toString('base64')}`;
    const none = await get(listening.url, 'all.localhost');
    expect([none.status, none.headers['ngrok-error-code']]).toEqual([401, undefined]);
    const ok = await get(listening.url, 'all.localhost', {
      headers: { authorization, 'accept-encoding': 'gzip' },
    });
    expect([ok.status, ok.headers['x-out'], ok.headers['content-encoding']]).toEqual([200, '1', 'gzip']);
    const bad = await get(listening.url, 'all.localhost', {
      headers: { authorization, 'user-agent': 'bad' },
    });
    expect([bad.status, bad.headers['ngrok-error-code']]).toEqual([403, 'ERR_NGROK_3211']);
  });

  test('a traffic policy runs; one with a mistake is refused with its code and place', async () => {
    const port = await app();
    const { listening, session } = await edgeWithAgents();
    const policy = (type: string) =>
      JSON.stringify({
        on_http_request: [{ actions: [{ type, config: { status_code: 418, body: 'tea' } }] }],
      });
    await forward({
      addr: port,
      domain: 'tea.localhost',
      traffic_policy: policy('custom-response'),
      ...session,
    });
    expect((await get(listening.url, 'tea.localhost')).status).toBe(418);
    const refused = forward({ addr: port, traffic_policy: policy('custom-reponse'), ...session });
    await expect(refused).rejects.toMatchObject({ errorCode: expect.stringMatching(/^ERR_NGROK_22\d\d$/) });
    await expect(refused).rejects.toThrow(/custom-response/);
  });

  test('an endpoint that is online is refused to others, and shared when both pool', async () => {
    const [one, two] = [
      await app((_, response) => response.end('one')),
      await app((_, response) => response.end('two')),
    ];
    const { listening, session } = await edgeWithAgents();
    await forward({ addr: one, domain: 'one.localhost', ...session });
    await expect(forward({ addr: two, domain: 'one.localhost', ...session })).rejects.toMatchObject({
      errorCode: 'ERR_NGROK_334',
    });
    for (const addr of [one, two])
      await agent.run(
        `const s = await new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr).rootCas(value.root_cas).connect();
         await s.httpEndpoint().domain('pool.localhost').poolingEnabled(true).listenAndForward('http://127.0.0.1:' + value.addr);`,
        { addr, ...session },
      );
    const texts = await Promise.all(Array.from({ length: 40 }, () => get(listening.url, 'pool.localhost')));
    expect(new Set(texts.map(({ text }) => text))).toEqual(new Set(['one', 'two']));
  });

  test('internal endpoints are reached by forward-internal only; wildcard hosts cover names below', async () => {
    const port = await app();
    const { listening, session } = await edgeWithAgents();
    await forward({ addr: port, domain: 'api.internal', ...session });
    const value = JSON.stringify({
      on_http_request: [{ actions: [{ type: 'forward-internal', config: { url: 'https://api.internal' } }] }],
    });
    await forward({ addr: port, domain: '*.wild.localhost', traffic_policy: value, ...session });
    expect((await get(listening.url, 'api.internal')).status).toBe(404);
    expect((await get(listening.url, 'a.wild.localhost', { path: '/in' })).text).toMatch(/^GET \/in /);
  });

  test('labelled tunnels serve the backends that select them, and keep their ids over a reconnect', async () => {
    const port = await app();
    const { listening, session, agents } = await edgeWithAgents({
      backends: { shop: { tunnel_group: { labels: { app: 'shop' } } } },
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443'],
            routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'shop' } }],
          },
        },
      },
    });
    const offline = await get(listening.url, 'shop.test');
    expect([offline.status, offline.headers['ngrok-error-code']]).toEqual([503, 'ERR_NGROK_6528']);
    await forward({ addr: port, proto: 'labeled', labels: 'app:shop', ...session });
    expect((await get(listening.url, 'shop.test')).text).toBe('GET / shop.test');
    const ids = () => agents.tunnels.all().map(({ id }) => id);
    const [before, [first]] = [ids(), agents.sessions()];
    agents.close('test');
    const next = () => agents.sessions().filter((each) => each.session !== first!.session).length;
    await expect.poll(next).toBe(1);
    await expect.poll(ids).toEqual(before);
    expect((await get(listening.url, 'shop.test')).status).toBe(200);
  });

  test('TCP with half close at an assigned port, and the PROXY header', async () => {
    const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('data', (bytes) => (text += bytes)).on('end', () => socket.end(`got ${text}`));
    });
    const port = await portOf(server);
    const { session } = await edgeWithAgents();
    const answer = (url: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true });
        let text = '';
        socket.on('data', (bytes) => (text += bytes)).on('error', reject);
        socket.on('end', () => resolve(text)).end('half');
      });
    const plain = await forward({ addr: port, proto: 'tcp', ...session });
    expect(plain.url).toMatch(/^tcp:\/\/tcp\.localhost:2\d{4}$/);
    expect(await answer(plain.url)).toBe('got half');
    const proxied = await forward({ addr: port, proto: 'tcp', proxy_proto: '1', ...session });
    expect(await answer(proxied.url)).toMatch(/^got PROXY TCP4 127\.0\.0\.1 [\d.]+ \d+ \d+\r\nhalf$/);
  });

  test('TLS ends at the edge, or is passed through', async () => {
    const server = createTcpServer((socket) => void socket.once('data', (bytes) => socket.end(bytes))).listen(
      0,
    );
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { session, listening, authority } = await edgeWithAgents();
    const { serverCertificate } = await import('../../src/cli/local_authority.ts');
    const { certificatePem: crt, privateKeyPem: key } = serverCertificate(authority, 'tls.localhost');
    await forward({ addr: port, proto: 'tls', domain: 'tls.localhost', crt, key, ...session });
    const text = await new Promise((resolve, reject) => {
      const socket = connectTls({
        port: listening.tlsPort!,
        servername: 'tls.localhost',
        ca: authority.certificatePem,
      });
      socket.on('data', (bytes) => resolve(bytes.toString())).on('error', reject);
      socket.write('over tls');
    });
    expect(text).toBe('over tls');
    await forward({ addr: port, proto: 'tls', domain: 'passed.localhost', ...session });
    const first = await new Promise<Buffer>((resolve, reject) => {
      const socket = connectTls({
        port: listening.tlsPort!,
        servername: 'passed.localhost',
        rejectUnauthorized: false,
      });
      socket.on('error', (error: NodeJS.ErrnoException) =>
        error.code?.startsWith('ERR_SSL') === true
          ? resolve(Buffer.from('echo of the hello'))
          : reject(error),
      );
    });
    expect(first.toString()).toBe('echo of the hello');
  });

  test('commands: restart, stop and update, with and without handlers', async () => {
    const { session, agents } = await edgeWithAgents();
    await agent.run(
      `kept.heard = [];
       await new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr).rootCas(value.root_cas)
         .handleStopCommand(() => kept.heard.push('stop'))
         .handleUpdateCommand((u) => kept.heard.push([u.version, u.permitMajorVersion])).connect();`,
      session,
    );
    const [{ id }] = agents.sessions() as unknown as [{ id: string }];
    expect(await agents.command(id, 'stop')).toBeNull();
    expect(await agents.command(id, 'update')).toBeNull();
    expect(await agents.command(id, 'restart')).toMatchObject({ kind: 'unsupported' });
    await expect.poll(() => agent.run('return kept.heard')).toEqual(['stop', ['', false]]);
  });

  test('a token that is not accepted ends the session with its code', async () => {
    const { session } = await edgeWithAgents({}, { admit: async () => ({ number: 107, message: 'No.' }) });
    await expect(forward({ addr: 1, ...session })).rejects.toMatchObject({ errorCode: 'ERR_NGROK_107' });
  });

  test('an upstream that is down is answered by the agent; closing a listener takes the endpoint away', async () => {
    const { session, listening, agents } = await edgeWithAgents();
    await agent.run('kept.closing = await ngrok.forward(value)', {
      addr: 1,
      domain: 'down.localhost',
      force_new_session: true,
      authtoken: 'x',
      ...session,
    });
    expect((await get(listening.url, 'down.localhost')).status).toBe(502);
    await agent.run('await kept.closing.close()');
    expect(agents.endpoints.all()).toEqual([]);
    expect((await get(listening.url, 'down.localhost')).status).toBe(404);
  });
});
