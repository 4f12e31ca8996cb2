import { describe, expect, it } from 'vitest';
import { firstValue } from '../../src/http/fields.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import { ISSUER, edgeOfRoutes } from './gate_edge.ts';

const OIDC = {
  type: 'openid-connect',
  config: { issuer_url: ISSUER, client_id: 'edge', client_secret: 's3cret' },
};
const OAUTH = { type: 'oauth', config: { provider: 'google', client_id: 'own', client_secret: 's3cret' } };

function simulating(rules: readonly object[], route: object = { match: '/', match_type: 'path_prefix' }) {
  const value = JSON.stringify({ on_http_request: rules });
  const routes = [
    { ...route, traffic_policy: { enabled: true, value } },
    { match: '/open', match_type: 'path_prefix' },
  ];
  const simulator = createSimulator(edgeOfRoutes(routes));
  simulator.identity('alice', { email: 'alice@acme.test', name: 'Alice' });
  simulator.identity('bob', { email: 'bob@elsewhere.test' });
  return simulator;
}

describe('logins of policies', () => {
  it.each([
    ['openid-connect', OIDC, 'oidc'],
    ['oauth', OAUTH, 'oauth'],
  ] as const)('%s logs in and provides the identity to later expressions', (_type, action, result) => {
    const simulator = simulating([
      { actions: [action] },
      {
        expressions: [`!actions.service.${result}.identity.email.endsWith('@acme.test')`],
        actions: [{ type: 'deny' }],
      },
      {
        actions: [
          {
            type: 'add-headers',
            config: { headers: { 'x-who': `\${actions.service.${result}.identity.name}` } },
          },
        ],
      },
    ]);
    const seen = simulator.send({ path: '/deep?a=1', as: 'alice' });
    expect(seen.status).toBe(200);
    const { headers, target } = seen.upstream!.request;
    expect(target).toBe('/deep?a=1');
    expect(firstValue(headers, 'x-who')).toBe('Alice');
    expect(firstValue(headers, 'service-auth-user-email')).toBe('alice@acme.test');
    expect(firstValue(headers, 'cookie')).toBeUndefined();
    expect(simulator.send({ path: '/', as: 'bob' }).status).toBe(403);
    const stranger = simulator.send({ path: '/', headers: { accept: 'application/json' } });
    expect(stranger.status).toBe(401);
    expect(stranger.upstream).toBeNull();
  });

  it('a policy that only mentions logins reserves no paths', () => {
    const said = { type: 'custom-response', config: { status_code: 200, body: 'use oauth or "saml"' } };
    const routes = [
      {
        match: '/said',
        match_type: 'path_prefix',
        traffic_policy: {
          enabled: true,
          value: JSON.stringify({ on_http_request: [{ actions: [said] }] }, null, 1),
        },
      },
      { match: '/', match_type: 'path_prefix' },
    ];
    const simulator = createSimulator(edgeOfRoutes(routes));
    expect(simulator.send({ path: '/said' }).upstream).toBeNull();
    for (const path of ['/service/login', '/service/callback?code=c&state=s', '/service/saml/acs']) {
      expect(simulator.send({ path }).upstream?.request.target).toBe(path);
    }
  });

  it.each([
    [OIDC, ['backchannel_logout'], ['saml/acs']],
    [OAUTH, [], ['backchannel_logout', 'saml/acs']],
  ])('reserves the paths of its protocol on every route, and no others', (action, own, others) => {
    const value = JSON.stringify({ on_http_request: [{ actions: [action] }] });
    const simulator = createSimulator(
      edgeOfRoutes([
        { match: '/admin', match_type: 'path_prefix', traffic_policy: { enabled: true, value } },
        { match: '/', match_type: 'path_prefix' },
      ]),
    );
    const isForwarded = (path: string): boolean =>
      simulator.send({ path: `/service/${path}` }).upstream !== null;
    const reserved = ['login', 'logout', 'callback', 'signed_out', ...own];
    expect(reserved.filter(isForwarded)).toEqual([]);
    expect(others.filter((path) => !isForwarded(path))).toEqual([]);
  });

  it("handles its callback despite the rule's conditions and on every route", () => {
    const rule = { expressions: ["req.url.path.startsWith('/admin')"], actions: [OIDC] };
    const whole = simulating([rule]);
    expect(whole.send({ path: '/admin/x', as: 'alice' }).status).toBe(200);
    expect(whole.events().map((event) => event.object.http.request.url.path)).toEqual([
      '/admin/x',
      '/service/callback',
      '/admin/x',
    ]);
    const routed = simulating([rule], { match: '/admin', match_type: 'path_prefix' });
    expect(routed.send({ path: '/admin/x', as: 'alice' }).status).toBe(200);
    expect(routed.send({ path: '/open', headers: { accept: 'application/json' } }).status).toBe(200);
  });

  it("keeps its limits and sets its cookie in the upstream's response", () => {
    const config = {
      ...OIDC.config,
      idle_session_timeout: '60s',
      max_session_duration: '150s',
      auth_id: 'staff',
    };
    const simulator = simulating([{ actions: [{ ...OIDC, config }] }]);
    const first = simulator.send({ path: '/', as: 'alice' });
    expect(first.header('set-cookie')).toBeNull();
    simulator.advance('59s');
    const second = simulator.send({ path: '/', as: 'alice' });
    expect(second.header('set-cookie')).toMatch(/^__Host-service\.staff\.session=/);
    expect(simulator.events()).toHaveLength(4);
    simulator.advance('60s');
    simulator.send({ path: '/', as: 'alice' });
    expect(simulator.events()).toHaveLength(7);
  });

  it('passes CORS preflights if configured, but no other OPTIONS requests', () => {
    const config = { ...OIDC.config, allow_cors_preflight: true };
    const simulator = simulating([{ actions: [{ ...OIDC, config }] }]);
    const options = (headers: Record<string, string>) =>
      simulator.send({ method: 'OPTIONS', path: '/', headers: { accept: 'application/json', ...headers } })
        .status;
    expect(options({})).toBe(401);
    expect(options({ origin: 'https://x.test', 'access-control-request-method': 'PUT' })).toBe(200);
  });
});
