import { expect, test } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';

const CONFIG = {
  ip_policies: { office: { rules: [{ cidr: '203.0.113.0/24', action: 'allow' }] } },
  backends: { app: { static: { address: '127.0.0.1:3000' } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: ['/a', '/b'].map((match) => ({
          match_type: 'path_prefix',
          match,
          ip_restriction: { ip_policy_ids: ['office'] },
          user_agent_filter: { deny: ['bot'] },
          circuit_breaker: {},
          compression: {},
          response_headers: { add: { 'x-served-by': 'edge' } },
          traffic_policy: {
            value: JSON.stringify({
              on_http_request: [
                { expressions: ["req.url.path.endsWith('/x')"], actions: [{ type: 'deny' }] },
              ],
            }),
          },
          backend: { backend_id: 'app' },
        })),
      },
    },
  },
};

test('the trace of a request does not depend on those before', () => {
  const edge = createEdge(CONFIG, { clock: () => 1_800_000_000_000 });
  const requests = ['/a', '/a', '/a/x', '/a', '/b', '/b/x', '/a/x', '/a', '/b', '/c'].flatMap((path) =>
    ['curl', 'bot', 'curl'].map((agent) => ({
      url: `https://shop.test${path}`,
      headers: { 'user-agent': agent, 'accept-encoding': 'gzip' },
    })),
  );
  const traces = requests.map((request) => edge.decide(request).trace);
  const alone = requests.map(
    (request) => createEdge(CONFIG, { clock: () => 1_800_000_000_000 }).decide(request).trace,
  );
  expect(traces).toEqual(alone);
});

test('steps that traces share cannot be changed', () => {
  const edge = createEdge(CONFIG);
  const decide = () => edge.decide({ url: 'https://shop.test/a', headers: { 'user-agent': 'curl' } }).trace;
  decide();
  const shared = decide().filter((step) => Object.isFrozen(step));
  expect(shared.map(({ module }) => module)).toContain('ip_restriction');
});
