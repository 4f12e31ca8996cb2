import { credentials, status as grpcStatus } from '@grpc/grpc-js';
import { createServer, request } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, type Server, connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, echoClient, echoServer } from '../http2/grpc_peers.ts';
import { NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function status(url: string, host: string, path = '/', method = 'GET'): Promise<number> {
  return new Promise((resolve) => {
    request(url + path, { method, headers: { host }, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!)).on('error', () => resolve(0));
    })
      .on('error', () => resolve(0))
      .end();
  });
}

function startedAgent() {
  const agent = agentProcess();
  onTestFinished(() => void agent.child.kill('SIGKILL'));
  const forward = (options: object) =>
    agent.run('const l = await ngrok.forward(value); return l.url()', { authtoken: 'x', ...options });
  return { agent, forward };
}

const GROUP = {
  backends: { shop: { tunnel_group: { labels: { app: 'shop' } } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'shop' } }],
      },
    },
  },
};

describe.skipIf(NO_SDK !== null)('connections through the published SDK', () => {
  test('a WebSocket upgrade', async () => {
    const server = createServer();
    server.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n');
      socket.on('data', (bytes: Buffer) => socket.write(bytes));
    });
    const port = await portOf(server);
    const { session, listening } = await edgeWithAgents();
    await startedAgent().forward({ addr: port, domain: 'ws.localhost', ...session });
    const socket = connect(listening.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
    socket.write('GET / HTTP/1.1\r\nhost: ws.localhost\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n');
    await expect.poll(() => text).toContain('101 Switching Protocols');
    socket.write('over the tunnel');
    await expect.poll(() => text).toContain('over the tunnel');
  });

  test('HTTP/2 with prior knowledge, if the agent asks for it', async () => {
    const versions: string[] = [];
    const server = createHttp2Server((got, response) => {
      versions.push(got.httpVersion);
      response.end('two');
    });
    const port = await portOf(server);
    const { session, listening } = await edgeWithAgents();
    await startedAgent().forward({ addr: port, domain: 'two.localhost', app_protocol: 'http2', ...session });
    const all = await Promise.all(Array.from({ length: 20 }, () => status(listening.url, 'two.localhost')));
    expect([new Set(all), new Set(versions)]).toEqual([new Set([200]), new Set(['2.0'])]);
  });

  test('gRPC: messages, trailers, errors, streams of both sides', async () => {
    const upstream = await echoServer();
    onTestFinished(() => upstream.server.forceShutdown());
    const { session, listening } = await edgeWithAgents();
    const place = { addr: upstream.port, domain: 'grpc.localhost', app_protocol: 'http2' };
    await startedAgent().forward({ ...place, ...session });
    const client = echoClient(listening.port, credentials.createInsecure(), 'grpc.localhost');
    onTestFinished(() => client.close());
    const answered = await ask(client, Buffer.from('hello'), { 'x-head': 'before' });
    expect([answered.error, String(answered.value)]).toEqual([null, 'hello']);
    expect(answered.head?.get('x-head')).toEqual(['before']);
    expect(answered.status.metadata.get('x-trailer')).toEqual(['behind']);
    const failed = await ask(client, Buffer.from('x'), { 'x-ask': 'error' });
    expect([failed.error?.code, failed.error?.details]).toEqual([grpcStatus.FAILED_PRECONDITION, 'nö']);
    const gathered = new Promise<string>((resolve, reject) => {
      const call = client.gather((error, value) => (error ? reject(error) : resolve(String(value))));
      for (let at = 0; at < 10; at++) call.write(Buffer.alloc(20_000, at));
      call.end();
    });
    expect(await gathered).toBe('200000');
    let messages = 0;
    for await (const message of client.spread(Buffer.from('8')) as AsyncIterable<Buffer>)
      messages += message.length / 10_000;
    expect(messages).toBe(8);
  });

  test('a killed agent of two: what can be repeated is answered by the other, what cannot is not', async () => {
    const held = { GET: 0, POST: 0 };
    let heard = (): void => undefined;
    const app = (hold: boolean) =>
      createServer((got, response) => {
        if (!hold) return void response.end();
        held[got.method as 'GET' | 'POST']++;
        heard();
      });
    const { session, listening, agents } = await edgeWithAgents(GROUP);
    const [one, two] = [startedAgent(), startedAgent()];
    await one.forward({ addr: await portOf(app(true)), proto: 'labeled', labels: 'app:shop', ...session });
    await two.forward({ addr: await portOf(app(false)), proto: 'labeled', labels: 'app:shop', ...session });
    expect(agents.tunnels.all().length).toBe(2);
    const [gets, posts] = [[], []] as [Promise<number>[], Promise<number>[]];
    while (held.GET < 2 || held.POST < 2) {
      for (const [asked, method] of [
        [gets, 'GET'],
        [posts, 'POST'],
      ] as const) {
        const isHeld = new Promise<void>((resolve) => (heard = resolve));
        const answered = status(listening.url, 'shop.test', '/', method);
        asked.push(answered);
        await Promise.race([answered, isHeld]);
      }
    }
    one.agent.child.kill('SIGKILL');
    expect(new Set(await Promise.all(gets))).toEqual(new Set([200]));
    // How many of them the other agent got is chance.
    const posted = await Promise.all(posts);
    expect(posted).toContain(502);
    expect([200, 502]).toEqual(expect.arrayContaining(posted));
  });

  test('a session that its agent closes in silence ends when its heartbeats do', async () => {
    const { session, agents } = await edgeWithAgents();
    const { agent } = startedAgent();
    await agent.run(
      `const s = await new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr).rootCas(value.root_cas)
         .heartbeatInterval(1).heartbeatTolerance(1).connect();
       await s.close();`,
      session,
    );
    await expect.poll(() => agents.sessions().length, { interval: 100 }).toBe(0);
  });

  test('lost sessions under load: every request is answered, and nothing is left behind', async () => {
    const port = await portOf(createServer((_got, response) => response.end('ok')));
    const { session, listening, agents } = await edgeWithAgents(GROUP);
    for (const started of [startedAgent(), startedAgent()])
      await started.forward({ addr: port, proto: 'labeled', labels: 'app:shop', ...session });
    const counts: Record<number, number> = {};
    for (let round = 0; round < 10; round++) {
      const requests = Array.from({ length: 20 }, () => status(listening.url, 'shop.test'));
      agents.sessions()[round % 2]?.session.close('test');
      for (const got of await Promise.all(requests)) counts[got] = (counts[got] ?? 0) + 1;
      await expect.poll(() => agents.tunnels.all().length, { timeout: 10_000 }).toBe(2);
    }
    expect(Object.keys(counts).every((got) => ['200', '502', '503'].includes(got))).toBe(true);
    expect(counts[200]).toBeGreaterThan(150);
    expect(agents.sessions().length).toBe(2);
  });

  test('many endpoints come and go', async () => {
    const { session, agents, edge } = await edgeWithAgents();
    const { agent } = startedAgent();
    await agent.run(
      `const s = await new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr).rootCas(value.root_cas).connect();
       kept.all = [];
       for (let at = 0; at < value.count; at++) kept.all.push(await s.httpEndpoint().domain('n' + at + '.localhost').listen());`,
      { ...session, count: 100 },
    );
    expect([agents.endpoints.all().length, edge.runtime.current().https.length]).toEqual([100, 100]);
    await agent.run('await Promise.all(kept.all.map((l) => l.close()))');
    expect([agents.endpoints.all(), agents.tunnels.all(), edge.runtime.current().https]).toEqual([
      [],
      [],
      [],
    ]);
  });
});
