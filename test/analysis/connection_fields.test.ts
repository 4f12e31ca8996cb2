import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prove } from '../../src/analysis/prove.ts';
import { type Listening, createEdge } from '../../src/edgeproof.ts';

/** Fields that `Connection` names are removed before the upstream; policies decide by what the client sent. */
const RULES = [
  { expressions: ["hasReqHeader('x-secret') || !hasReqHeader('x-id')"], actions: [{ type: 'deny' }] },
  { actions: [{ type: 'add-headers', config: { headers: { 'x-user': 'ann' } } }] },
];
const received: IncomingMessage[] = [];
const upstream = createServer((request, response) => {
  received.push(request);
  response.end();
});
let edge: ReturnType<typeof createEdge>;
let listening: Listening;

beforeAll(async () => {
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  const { port } = upstream.address() as AddressInfo;
  const value = JSON.stringify({ on_http_request: RULES });
  edge = createEdge({
    backends: { app: { static: { address: `127.0.0.1:${port}` } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              backend: { backend_id: 'app' },
              traffic_policy: { value },
            },
          ],
        },
      },
    },
  });
  listening = await edge.listen();
});

afterAll(async () => {
  await listening.close();
  upstream.close();
});

async function send(...fields: readonly string[]) {
  received.length = 0;
  const socket = connect(listening.port, '127.0.0.1');
  socket.write(`GET / HTTP/1.1\r\nHost: shop.test\r\n${fields.map((each) => `${each}\r\n`).join('')}\r\n`);
  const [head] = (await text(socket)).split('\r\n');
  return { status: Number(head!.split(' ')[1]), seen: received[0]?.headers };
}

test('a policy sees a field that Connection names', async () => {
  const { status } = await send('Connection: close, X-Secret', 'X-Secret: 1', 'X-Id: 7');
  expect(status).toBe(403);
  const { verdict } = prove(edge.config, {
    name: 'secret',
    where: "hasReqHeader('x-secret')",
    never: { end: 'forwarded' },
  });
  expect(verdict).toBe('PROVED');
});

test('a field that a policy requires may be missing upstream', async () => {
  const { status, seen } = await send('Connection: close, X-Id', 'X-Id: 7');
  expect(status).toBe(200);
  expect(seen).not.toHaveProperty('x-id');
  expect((await send('Connection: close, X-Id')).status).toBe(403);
  const forwarded = { end: 'forwarded' } as const;
  const without = { name: 'id', where: "!hasReqHeader('x-id')", never: forwarded };
  expect(prove(edge.config, without).verdict).toBe('PROVED');
  // Naming a field does not take it from the policy.
  const where =
    "hasReqHeader('connection') && req.headers['connection'][0] == 'x-id' && hasReqHeader('x-id')";
  expect(prove(edge.config, { name: 'named', where, never: forwarded }).verdict).toBe('REFUTED');
});

test('a client cannot remove a field that a policy adds', async () => {
  const { seen } = await send('Connection: close, X-User, X-Id', 'X-User: eve', 'X-Id: 7');
  expect(seen).toMatchObject({ 'x-user': expect.stringContaining('ann') as string });
});
