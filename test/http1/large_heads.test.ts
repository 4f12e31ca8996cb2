import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { heldBytes } from '../held_bytes.ts';

const HEADS = 200;
const PAD_BYTES = 250_000;

/** A policy that reads what is kept of a request: its user agent and names of its fields. */
const POLICY = {
  on_http_request: [
    {
      expressions: ["req.user_agent.name == 'none' || 'x-none' in req.headers"],
      actions: [{ type: 'deny' }],
    },
  ],
  on_http_response: [{ actions: [{ type: 'compress-response' }] }],
};

test('what is kept of a large head does not keep the whole head', async () => {
  const upstream = createServer({ maxHeaderSize: 2 * PAD_BYTES }, (_, response) => response.end('here'));
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const backend = { backend_id: 'app' };
  const route = { match_type: 'path_prefix', match: '/', traffic_policy: POLICY, backend };
  const edge = createEdge(
    {
      backends: { app: { static: { address } } },
      edges: { https: { site: { hostports: ['*.large.test:443'], routes: [route] } } },
    },
    { onEvent: () => {} },
  );
  const listening = await edge.listen({ port: 0 });
  const socket = connect(listening.port, '127.0.0.1');
  let answers = '';
  socket.on('data', (bytes) => (answers += bytes.toString('latin1')));
  const ask = async (number: number): Promise<void> => {
    const own = String(number).padStart(16, '0');
    const values = [
      `Host: host-${own}.large.test`,
      `User-Agent: Agent-${own}/1.0`,
      `Accept-Encoding: x-${own}`,
      `X-${own}: value-${own}`,
      `X-Pad: ${own}${'p'.repeat(PAD_BYTES)}`,
    ];
    answers = '';
    socket.write(`GET / HTTP/1.1\r\n${values.join('\r\n')}\r\n\r\n`, 'latin1');
    while (!answers.endsWith('here')) await once(socket, 'data');
    expect(answers).toMatch(/^HTTP\/1\.1 200 /);
  };
  await ask(0);
  const before = heldBytes();
  for (let number = 1; number <= HEADS; number++) await ask(number);
  // The heads have 50 MB.
  expect(heldBytes() - before).toBeLessThan(8_000_000);
  socket.destroy();
  await listening.close(0);
  upstream.close();
});
