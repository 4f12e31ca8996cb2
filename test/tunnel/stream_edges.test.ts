import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StreamExplanation } from '../../src/edge/explain.ts';
import { serverCertificate } from '../../src/cli/local_authority.ts';
import type { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';
import { type AgentProcess, NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';
import { AUTH, CALL, handmadeAgent } from './handmade_agent.ts';

const backend = { backend: { backend_id: 'shop' } };
const CONFIG = {
  backends: {
    shop: { tunnel_group: { labels: { app: 'shop' } } },
    spare: { tunnel_group: { labels: { app: 'spare' } } },
    both: { failover: ['shop', 'spare'] },
  },
  edges: {
    tls: {
      ended: { hostports: ['ended.test:443'], ...backend },
      passed: {
        hostports: ['passed.test:443'],
        tls_termination: { terminate_at: 'upstream' },
        ...backend,
      },
    },
    tcp: {
      plain: { hostports: ['1.tcp.test:5432'], ...backend },
      both: { hostports: ['1.tcp.test:5433'], backend: { backend_id: 'both' } },
    },
  },
};

/** An edge with TLS and TCP edges whose backends are tunnels, and how its connections went. */
async function shop() {
  const explained: StreamExplanation[] = [];
  const edge = await edgeWithAgents(
    CONFIG,
    {},
    { onConnection: (_event, explain) => void explained.push(explain()) },
    { tcp: { ports: { '1.tcp.test:5432': 0, '1.tcp.test:5433': 0 } } },
  );
  const portOf = (port: number) => edge.listening.ports().find((each) => each.port === port)!.listensOn;
  return {
    ...edge,
    explained,
    /** What comes back after a greeting and its end. */
    tcp: (port = 5432) => echoed(connect(portOf(port), '127.0.0.1')),
    tls: (servername: string) =>
      echoed(
        connectTls({
          port: edge.listening.tlsPort!,
          host: '127.0.0.1',
          servername,
          rejectUnauthorized: false,
        }),
      ),
  };
}

async function echoed(socket: Duplex): Promise<string> {
  let broke = '';
  socket.on('error', ({ message }) => (broke = message)).end('hello');
  return text(socket).catch(() => broke);
}

test('the agent learns the kind of the edge, and whether TLS was passed through', async () => {
  const { agents, tcp, tls } = await shop();
  const heads: Record<string, unknown>[] = [];
  const carried = (stream: StreamDuplex): void => {
    let held = Buffer.alloc(0);
    stream.on('data', (bytes: Buffer) => {
      if (stream.destroyed) return;
      held = Buffer.concat([held, bytes]);
      if (held.length < 12) return;
      const end = 12 + Number(held.readBigInt64LE(4));
      if (held.length < end) return;
      heads.push(JSON.parse(held.subarray(12, end).toString()));
      stream.destroy();
    });
  };
  const { call } = handmadeAgent(agents, carried);
  await call(CALL.auth, AUTH);
  await call(CALL.labelled, JSON.stringify({ Labels: { app: 'shop' }, ForwardsTo: '', Metadata: '' }));
  await tcp();
  await tls('ended.test');
  await tls('passed.test');
  const ClientAddr = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  expect(heads).toMatchObject([
    { ClientAddr, Proto: 'tcp', EdgeType: '1', PassthroughTLS: false },
    { ClientAddr, Proto: 'tls', EdgeType: '2', PassthroughTLS: false },
    { ClientAddr, Proto: 'tls', EdgeType: '2', PassthroughTLS: true },
  ]);
});

test('without an agent, connections are closed, with their reason', async () => {
  const { tcp, tls, explained } = await shop();
  await tcp();
  await tls('ended.test');
  await tls('passed.test');
  await tcp(5433);
  await expect
    .poll(() => explained.map(({ decidedBy }) => decidedBy.code))
    .toEqual(Array(4).fill('backend.offline'));
});

describe.skipIf(NO_SDK !== null)(
  `labels behind TLS and TCP edges${NO_SDK === null ? '' : `: ${NO_SDK}`}`,
  () => {
    let agent: AgentProcess;
    beforeAll(() => void (agent = agentProcess()));
    afterAll(() => void agent.child.kill('SIGKILL'));

    test('an agent with labels serves them all, and a group in a failover', async () => {
      const { session, authority, tcp, tls, explained } = await shop();
      const { certificatePem: cert, privateKeyPem: key } = serverCertificate(authority, 'passed.test');
      await agent.run(
        `const [net, tls] = [await import('node:net'), await import('node:tls')];
       const echo = (socket) => socket.on('error', () => undefined).pipe(socket);
       const secured = tls.createServer(value.pair, echo);
       // A client of TLS begins with a handshake record.
       const server = net.createServer((socket) =>
         socket.once('readable', () => {
           const first = socket.read();
           if (first === null) return socket.destroy();
           socket.unshift(first);
           if (first[0] === 22) secured.emit('connection', socket);
           else echo(socket);
         }));
       await new Promise((done) => server.listen(0, '127.0.0.1', done));
       const s = await new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr)
         .rootCas(value.root_cas).connect();
       kept.listener = await s.labeledListener().label('app', value.app)
         .listenAndForward('tcp://127.0.0.1:' + server.address().port);`,
        { ...session, app: 'shop', pair: { cert, key } },
      );
      expect([await tcp(), await tls('ended.test'), await tls('passed.test'), await tcp(5433)]).toEqual(
        Array(4).fill('hello'),
      );
      await expect.poll(() => explained.map(({ outcome }) => outcome)).toEqual(Array(4).fill('allowed'));
      expect(explained.map(({ backend: name }) => name)).toEqual(Array(4).fill('shop'));
      await agent.run('await kept.listener.close()');
      await tcp();
      await expect.poll(() => explained.at(-1)!.decidedBy.code).toBe('backend.offline');
    });
  },
);
