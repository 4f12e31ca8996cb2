import { expect, it } from 'vitest';
import { checkWholeEdge } from '../../../src/edge/semantic_checks.ts';

const app = { backend: { backend_id: 'app' } };
const gate = { ip_restriction: { ip_policy_ids: ['office'] } };
const open = { match_type: 'path_prefix', match: '/', ...app };
const admin = { match_type: 'exact_path', match: '/admin', ...app, ...gate };
const policy = (type: string, config: object) => ({
  traffic_policy: { value: JSON.stringify({ on_http_request: [{ actions: [{ type, config }] }] }) },
});
const basicAuth = policy('basic-auth', { credentials: ['ann:a long password'] });

/** The places with the warning, for routes of one edge. */
function placesOf(routes: readonly object[]): readonly string[] {
  const value = {
    backends: {
      app: { static: { address: '127.0.0.1:9' } },
      other: { static: { address: '127.0.0.1:9' } },
      fixed: { http_response: { status_code: 404 } },
    },
    ip_policies: { office: { rules: [{ cidr: '192.0.2.0/24', action: 'allow' }] } },
    edges: { https: { app: { hostports: ['app.test:443'], routes } } },
  };
  const { diagnostics } = checkWholeEdge({ value }, {});
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return diagnostics.flatMap(({ code, pointer }) =>
    code === 'edge.open_slash' ? [pointer.replace('/edges/https/app/routes/', '')] : [],
  );
}

it.each<[string, readonly object[]]>(
  [
    ['a route for everything', [open, admin]],
    ['a route for its prefix', [{ ...open, match: '/ad' }, admin]],
    [
      'an exact route of the path with a slash',
      [{ ...admin, ip_restriction: undefined, match: '/admin/' }, admin],
    ],
    [
      'a route with a gate that is disabled',
      [{ ...open, ip_restriction: { ...gate.ip_restriction, enabled: false } }, admin],
    ],
    ['a gate in a policy', [open, { ...admin, ip_restriction: undefined, ...basicAuth }]],
    ['a policy without a gate', [{ ...open, ...policy('add-headers', { headers: { 'x-a': 'b' } }) }, admin]],
    ['a host', [open, { ...admin, match: 'app.test/admin' }]],
    [
      'an open route of that host',
      [
        { ...open, ...gate },
        { ...open, match: 'app.test/' },
        { ...admin, match: 'app.test/admin' },
      ],
    ],
  ].map(([name, routes]) => [name as string, JSON.parse(JSON.stringify(routes)) as object[]]),
)('%s is found', (_name, routes) => {
  expect(placesOf(routes)).toEqual([`${routes.length - 1}/match`]);
});

it.each<[string, readonly object[]]>(
  [
    ['no other route', [admin]],
    ['an equal gate', [{ ...open, ...gate }, admin]],
    ['another gate', [{ ...open, ...basicAuth }, admin]],
    ['a gate of the path with a slash', [open, admin, { ...admin, match: '/admin/' }]],
    ['a redirect', [{ ...open, ...policy('redirect', { from: '/$', to: '/x' }) }, admin]],
    ['another backend', [{ ...open, backend: { backend_id: 'other' } }, admin]],
    [
      'a fixed response',
      [
        { ...open, backend: { backend_id: 'fixed' } },
        { ...admin, backend: { backend_id: 'fixed' } },
      ],
    ],
    ['a gate by prefix', [open, { ...admin, match_type: 'path_prefix' }]],
    [
      'a gate that is disabled',
      [open, { ...admin, ip_restriction: { ...gate.ip_restriction, enabled: false } }],
    ],
    ['no gate', [open, { match_type: 'exact_path', match: '/admin', ...app }]],
    ['a path with a slash at its end', [open, { ...admin, match: '/admin/' }]],
    [
      'a limit',
      [
        open,
        {
          ...admin,
          ip_restriction: undefined,
          ...policy('rate-limit', {
            name: 'a',
            algorithm: 'sliding_window',
            capacity: 1,
            rate: '1m',
            bucket_key: ['conn.client_ip'],
          }),
        },
      ],
    ],
    ['an open route of another host', [{ ...open, match: 'other.test/' }, admin]],
  ].map(([name, routes]) => [name as string, JSON.parse(JSON.stringify(routes)) as object[]]),
)('%s has no finding', (_name, routes) => {
  expect(placesOf(routes)).toEqual([]);
});
