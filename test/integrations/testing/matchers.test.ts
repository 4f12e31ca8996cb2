import { describe, expect, it } from 'vitest';
import { createEdge, createSimulator } from '../../../src/index.ts';
import { edgeMatchers } from '../../../src/integrations/testing/vitest.ts';

expect.extend(edgeMatchers);

const policy = {
  on_http_request: [
    {
      name: 'no admin',
      expressions: ["req.url.path.startsWith('/admin')"],
      actions: [{ type: 'deny', config: { status_code: 403 } }],
    },
    {
      expressions: ["req.url.path == '/old'"],
      actions: [{ type: 'redirect', config: { from: '/old', to: '/new' } }],
    },
    { actions: [{ type: 'add-headers', config: { headers: { 'x-edge': 'here' } } }] },
  ],
};
const edge = createEdge({
  ip_policies: {
    office: {
      rules: [
        { action: 'deny', cidr: '198.51.100.0/24' },
        { action: 'allow', cidr: '0.0.0.0/0' },
      ],
    },
  },
  backends: { app: { static: { address: 'localhost:1' } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [
          {
            match_type: 'path_prefix',
            match: '/',
            ip_restriction: { ip_policy_ids: ['office'] },
            traffic_policy: { value: JSON.stringify(policy) },
            backend: { backend_id: 'app' },
          },
        ],
      },
    },
  },
});
const decide = (path: string, clientIp = '203.0.113.9') =>
  edge.decide({ url: `https://shop.test${path}` }, { clientIp });

/** What the matcher says when it fails. */
function complaint(run: () => void): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the matcher has not failed');
}

describe('matchers on decisions', () => {
  it('pass', () => {
    expect(decide('/', '198.51.100.7')).toBeDeniedBy('ip_restriction');
    expect(decide('/', '198.51.100.7')).toBeDeniedBy('ip_restriction.denied');
    expect(decide('/admin')).toBeDeniedBy({ module: 'traffic_policy', rule: 'no admin' });
    expect(decide('/admin')).toHaveStatus(403);
    expect(decide('/admin')).not.toReachBackend();
    expect(decide('/')).toReachBackend('app');
    expect(decide('/')).not.toBeDeniedBy();
    expect(decide('/old')).toRedirectTo(/\/new$/);
    expect(decide('/old')).toHaveResponseHeader('location');
    expect(decide('/')).toHaveResponseHeader('location', null);
    expect(decide('/')).toHaveEvent({ 'http.request.url.path': '/', ip_policy: { decision: 'allow' } });
    expect(decide('/', '198.51.100.7')).toHaveDecision('ip_restriction', 'block');
  });

  it('fail with the actual decision and its steps', () => {
    const said = complaint(() => expect(decide('/admin')).toReachBackend('app'));
    expect(said).toContain(
      'expected the request to reach backend app, but traffic_policy stopped it with 403',
    );
    expect(said).toContain('> stop  traffic_policy');
    expect(said).toContain('rule no admin');
    expect(complaint(() => expect(decide('/')).toBeDeniedBy('ip_restriction'))).toContain('it reached app');
    expect(complaint(() => expect(decide('/admin')).toBeDeniedBy('ip_restriction'))).toContain(
      'traffic_policy stopped it',
    );
    expect(complaint(() => expect(decide('/')).toHaveStatus(404))).toContain('to have status 404');
    expect(complaint(() => expect(decide('/old')).toRedirectTo('/elsewhere'))).toContain(
      'it is redirected to',
    );
    expect(complaint(() => expect(decide('/')).toHaveEvent({ 'http.request.method': 'post' }))).toContain(
      'http.request.method is "get"',
    );
    expect(complaint(() => expect(decide('/')).toHaveResponseHeader('x-none'))).toContain('it is absent');
    expect(complaint(() => expect(decide('/')).toHaveDecision('ip_restriction', 'block'))).toContain(
      'it is allow',
    );
    expect(complaint(() => expect(decide('/')).not.toReachBackend('app'))).toContain(
      'not to reach backend app',
    );
    expect(() => expect(7).toHaveStatus(7)).toThrow(/a result of simulator.send, edge.decide or edge.handle/);
  });
});

describe('matchers on results of a simulator', () => {
  it('also know the upstream’s request', () => {
    const simulator = createSimulator(edge);
    simulator.upstream('app', 503);
    const exchange = simulator.send('GET https://shop.test/a?b=1');
    expect(exchange).toHaveStatus(503);
    expect(exchange).toReachBackend('app');
    expect(exchange).toShowUpstream({
      backend: 'app',
      target: '/a?b=1',
      headers: { 'x-edge': 'here', 'x-no': null },
    });
    expect(complaint(() => expect(exchange).toShowUpstream({ target: '/other' }))).toContain(
      'target is "/a?b=1"',
    );
  });

  it('accept results of `handle`, too', async () => {
    const own = createEdge(edge.config, { upstream: () => new Response('hello', { status: 201 }) });
    const handled = await own.handle(new Request('https://shop.test/x'));
    expect(handled).toHaveStatus(201);
    expect(handled).toReachBackend('app');
    expect(await own.handle(new Request('https://shop.test/admin'))).toBeDeniedBy('traffic_policy');
  });
});
