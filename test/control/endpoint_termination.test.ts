import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance({ service: 'ngrok' });
});
afterAll(() => instance.close());

const DENY = { actions: [{ type: 'deny' }] };

test.each([
  ['edge', { on_tcp_connect: [{ actions: [{ type: 'terminate-tls' }] }, DENY] }],
  ['edge', 'on_tcp_connect: [{ actions: [{ type: "terminate\\x2dtls" }, { type: deny }] }]'],
  ['upstream', { on_tcp_connect: [{ name: 'terminate-tls', ...DENY }] }],
  ['upstream', 'on_tcp_connect: [{ actions: [{ type: deny }] }] # terminate-tls is not wanted'],
])('cloud endpoints of TLS end it at the %s with the policy %j', async (end, given) => {
  const traffic_policy = typeof given === 'string' ? given : JSON.stringify(given);
  const { id } = await instance.make('/endpoints', {
    url: 'tls://ends.test',
    type: 'cloud',
    traffic_policy,
  });
  const { tls } = instance.management.edge.config.edges;
  expect(tls[id]!.tls_termination!.terminate_at).toBe(end);
  await instance.call('DELETE', `/endpoints/${id}`);
});
