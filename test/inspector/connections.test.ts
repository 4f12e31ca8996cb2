import { once } from 'node:events';
import { credentials } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import type { ConnectionDetail, ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import type { ConnectionRow, Row } from '../../src/inspector/wire.ts';
import { ask, echoClient, echoServer } from '../http2/grpc_peers.ts';
import { SERVER, testAuthority } from '../server/tls/authority.ts';
import { secure } from '../server/tls/client.ts';
import { backend, dial, echo, received } from '../server/tcp/peers.ts';
import { inspected } from './inspected.ts';

const isDone = ({ state }: Row): boolean => state === 'done';

test('a TCP connection is in the feed while it is open, with its bytes when it has ended, and has a detail', async () => {
  const upstream = await backend(echo);
  onTestFinished(upstream.close);
  const config = {
    backends: { db: { static: { address: upstream.address } } },
    edges: { tcp: { db: { hostports: ['1.tcp.test:5432'], backend: { backend_id: 'db' } } } },
  };
  const { listening, feed, ok } = await inspected(
    config,
    {},
    {},
    { tcp: { ports: { '1.tcp.test:5432': 0 } } },
  );
  const reader = await feed();
  const socket = await dial(listening.ports()[0]!.listensOn);
  const own = socket.localPort!;
  socket.write('hello');
  await reader.until(({ rows }) => rows.length > 0);
  const open = reader.rows[0] as ConnectionRow;
  expect(open).toMatchObject({
    kind: 'connection',
    state: 'open',
    protocol: 'tcp',
    ended: null,
    tookMs: null,
  });
  const during = await ok<ConnectionDetail>('GET', `/api/exchanges/${open.seq}`);
  expect(during).toMatchObject({ kind: 'connection', explanation: null, event: null });
  expect(during.connection).toMatchObject({ clientIp: '127.0.0.1', clientPort: own, tls: null });

  const answer = received(socket);
  socket.end('!');
  expect(String(await answer)).toBe('hello!');
  await reader.until(({ rows }) => rows.some(isDone));
  const row = reader.rows.findLast(isDone) as ConnectionRow;
  expect(row).toMatchObject({
    seq: open.seq,
    edge: 'db',
    verdict: 'pass',
    backend: 'db',
    clientIp: '127.0.0.1',
    requestBytes: 6,
    responseBytes: 6,
  });
  const detail = await ok<ConnectionDetail>('GET', `/api/exchanges/${row.seq}`);
  expect(detail.row).toEqual(row);
  expect(detail.explanation!.steps.length).toBeGreaterThan(0);
  expect(detail.event!.event_id).toBe(row.eventId);
  expect(detail.timing.endedAfter).toBeGreaterThan(0);
});

test('a refused TCP connection says which filter stopped it, and where', async () => {
  const config = {
    backends: { db: { static: { address: '127.0.0.1:1' } } },
    ip_policies: { office: { rules: [{ cidr: '192.0.2.0/24', action: 'allow' }] } },
    edges: {
      tcp: {
        db: {
          hostports: ['1.tcp.test:5432'],
          ip_restriction: { ip_policy_ids: ['office'] },
          backend: { backend_id: 'db' },
        },
      },
    },
  };
  const { listening, feed } = await inspected(config, {}, {}, { tcp: { ports: { '1.tcp.test:5432': 0 } } });
  const reader = await feed();
  const socket = await dial(listening.ports()[0]!.listensOn);
  expect(await received(socket)).toHaveLength(0);
  await reader.until(({ rows }) => rows.some(isDone));
  expect(reader.rows.findLast(isDone)).toMatchObject({
    kind: 'connection',
    verdict: 'stop',
    by: 'ip_restriction',
    code: 'ip_restriction.not_allowed',
    pointer: expect.stringContaining('/edges/tcp/db') as string,
    requestBytes: 0,
    responseBytes: 0,
  });
});

test('a TLS connection has its server name and the facts of its session', async () => {
  const upstream = await backend(echo);
  onTestFinished(upstream.close);
  const authority = testAuthority('inspected');
  const pair = authority.issue('db.test', SERVER('db.test'));
  const config = {
    backends: { db: { static: { address: upstream.address } } },
    tls_certificates: { db: { certificate_pem: pair.cert, private_key_pem: pair.key } },
    edges: { tls: { db: { hostports: ['db.test:443'], backend: { backend_id: 'db' } } } },
  };
  const { listening, feed, ok } = await inspected(config, {}, {}, { tls: {} });
  const reader = await feed();
  const socket = await secure({ port: listening.tlsPort!, servername: 'db.test', ca: authority.cert });
  socket.write('ping');
  await once(socket, 'data');
  socket.end();
  await reader.until(({ rows }) => rows.some(isDone));
  const row = reader.rows.findLast(isDone) as ConnectionRow;
  expect(row).toMatchObject({
    kind: 'connection',
    protocol: 'tls',
    edge: 'db',
    host: 'db.test:443',
    verdict: 'pass',
    backend: 'db',
    requestBytes: 4,
    responseBytes: 4,
  });
  const { connection, event } = await ok<ConnectionDetail>('GET', `/api/exchanges/${row.seq}`);
  expect(connection).toMatchObject({
    serverName: 'db.test',
    tls: { version: 'TLSv1.3', clientCertificate: null },
  });
  expect(event!.object).toMatchObject({ conn: { bytes_in: 4, bytes_out: 4 } });
});

test('the messages of a gRPC call are in its detail, in both directions', async () => {
  const upstream = await echoServer();
  const config = {
    backends: { app: { static: { address: `127.0.0.1:${upstream.port}`, protocol: 'http2' } } },
    edges: {
      https: {
        grpc: {
          hostports: ['grpc.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
        },
      },
    },
  };
  const { listening, feed, ok } = await inspected(config);
  const reader = await feed();
  const client = echoClient(listening.port, credentials.createInsecure(), 'grpc.test');
  onTestFinished(() => {
    client.close();
    upstream.server.forceShutdown();
  });
  const { error, value } = await ask(client, Buffer.from('hello gRPC'));
  expect([error, String(value)]).toEqual([null, 'hello gRPC']);
  await reader.until(({ rows }) => rows.some(isDone));
  const row = reader.rows.findLast(isDone)!;
  expect(row).toMatchObject({ protocol: 'h2', target: '/test.Echo/Unary', status: 200 });
  const { frames } = await ok<ExchangeDetail>('GET', `/api/exchanges/${row.seq}`);
  expect(frames).toEqual({
    kind: 'grpc',
    dropped: 0,
    list: [
      { from: 'client', after: null, type: 'message', bytes: 10, text: 'hello gRPC' },
      { from: 'upstream', after: null, type: 'message', bytes: 10, text: 'hello gRPC' },
    ],
  });
});
