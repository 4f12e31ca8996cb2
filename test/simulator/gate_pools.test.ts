import { expect, test } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { actionsIn } from '../../src/policy/document/action_types.ts';
import { gatePools } from '../../src/simulator/search/gate_pools.ts';

const NO_REQUESTS = { signer: null, texts: [] };

function edgeOf(routes: readonly object[]) {
  const shop = {
    hostports: ['shop.test:443'],
    routes: routes.map((route) => ({ match_type: 'path_prefix', backend: { backend_id: 'app' }, ...route })),
  };
  return createEdge({
    backends: { app: { static: { address: 'localhost:3000' } } },
    edges: { https: { shop } },
  }).config;
}

const GITHUB = { provider: { github: { client_id: 'a', client_secret: 'b' } } };
const OIDC = { issuer: 'https://login.test', client_id: 'a', client_secret: 'b' };

test('a gate is asked for its own paths, and for one that it does not have', () => {
  // Names of gates are those of their routes, unless the first gate has such a path.
  const config = edgeOf([
    { match: '/', oauth: { ...GITHUB, inactivity_timeout: 600, maximum_duration: 7_200 } },
    { match: '/logout', oidc: OIDC },
    { match: '/backchannel-logout', oidc: OIDC },
    { match: '/off', oidc: { ...OIDC, enabled: false } },
  ]);
  const { reserved, befores } = gatePools(config, [], NO_REQUESTS);
  const paths = ['nothing-here', 'authn', 'logout', 'signed_out', 'callback'];
  const bases = ['/auth/', '/auth/logout2/', '/auth/backchannellogout2/'];
  expect(reserved).toEqual(bases.flatMap((base) => paths.map((path) => base + path)));
  expect(befores.map(({ thenMs }) => thenMs)).toEqual(expect.arrayContaining([300_001, 600_001, 7_200_001]));
});

test('sessions of login actions end as their configs say', () => {
  const times = {
    max_session_duration: '8h',
    idle_session_duration: '20m',
    userinfo_refresh_interval: '5m',
  };
  const login = {
    type: 'openid-connect',
    config: { issuer_url: 'https://login.test', client_id: 'a', client_secret: 'b', ...times },
  };
  const value = JSON.stringify({ on_http_request: [{ actions: [login] }] });
  const config = edgeOf([
    { match: '/', traffic_policy: { value } },
    { match: '/b', traffic_policy: { value } },
  ]);
  const actions = [...actionsIn(value), ...actionsIn(value)] as never;
  const { reserved, befores } = gatePools(config, actions, NO_REQUESTS);
  expect(reserved).toEqual([
    '/service/nothing-here',
    '/service/login',
    '/service/logout',
    '/service/signed_out',
    '/service/callback',
  ]);
  expect(befores.map(({ thenMs }) => thenMs)).toEqual([300_001, 600_001, 1_200_001, 28_800_001, 3_600_001]);
});
