import { describe, expect, test } from 'vitest';
import { classesOf } from '../../src/analysis/classes.ts';
import { type Property, prove } from '../../src/analysis/prove.ts';
import { createEdge } from '../../src/edgeproof.ts';
import * as library from '../../src/index.ts';
import { oneRoute } from '../one_route.ts';

const OFFICE = { office: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } };

/** A shop whose `/admin` only the office reaches, and `/login` only after a login. */
function shop(policy: object = {}, admin: object = {}) {
  const edge = oneRoute(policy, { ip_policies: OFFICE });
  const backends = {
    ...edge.backends,
    ops: { static: { address: 'localhost:3001' } },
    mixed: { weighted: { app: 1, ops: 1 } },
  };
  edge.edges.https.shop.routes.push({
    match_type: 'path_prefix',
    match: '/admin',
    backend: { backend_id: 'ops' },
    ip_restriction: { ip_policy_ids: ['office'] },
    ...admin,
  } as never);
  return createEdge({ ...edge, backends }).config;
}

const strangers: Property = {
  name: 'only the office reaches ops',
  where: "!inCidrRange(conn.client_ip, '10.0.0.0/8')",
  never: { end: 'forwarded', backend: 'ops' },
};

/** One edge with these routes to `app`, and an edge of the wildcard with a route to `ops`. */
function besideWildcard(host: string, routes: readonly (readonly [match: string, type: string])[]) {
  const routeOf = (match: string, type: string, backend: string) => ({
    match_type: type,
    match,
    backend: { backend_id: backend },
  });
  const { backends } = oneRoute({});
  const main = { hostports: [host], routes: routes.map(([match, type]) => routeOf(match, type, 'app')) };
  const wild = { hostports: ['*.b.test:443'], routes: [routeOf('/', 'path_prefix', 'ops')] };
  const ops = { static: { address: 'localhost:3001' } };
  return createEdge({ backends: { ...backends, ops }, edges: { https: { main, wild } } }).config;
}

describe('classes of hosts and paths', () => {
  test.each(['any.b.test:443', 'x.b.test:443'])('a wildcard beside the host %s is not left out', (host) => {
    const config = besideWildcard(host, [['/', 'path_prefix']]);
    const never = { end: 'forwarded', backend: 'ops' } as const;
    expect(prove(config, { name: 'ops is closed', never })).toMatchObject({
      verdict: 'REFUTED',
      observed: { backend: 'ops' },
    });
  });

  test.each(['/~', '/~0', '/~ann/'])('an end is found beside a route for %s', (match) => {
    const config = besideWildcard('a.test:443', [
      ['/', 'exact_path'],
      ['/', 'path_prefix'],
      [match, 'path_prefix'],
    ]);
    const paths = classesOf(config).map(({ where }) => where);
    expect(paths.filter((where) => where.startsWith('a.test')).length).toBeGreaterThanOrEqual(3);
  });
});

describe('properties', () => {
  test('a gate is proved', () => {
    expect(prove(shop(), strangers)).toMatchObject({ verdict: 'PROVED' });
  });

  test('a gate with a hole is refuted with a request that goes through', () => {
    const proof = prove(shop({ backend: { backend_id: 'mixed' } }), strangers);
    // The engine chooses by chance: the request that was run may have used the other backend.
    expect(['REFUTED', 'UNDECIDED']).toContain(proof.verdict);
    const open = prove(shop({}, { ip_restriction: undefined }), strangers);
    expect(open).toMatchObject({
      verdict: 'REFUTED',
      witness: { url: 'https://shop.test/admin' },
      observed: { backend: 'ops' },
    });
  });

  test('a login that lets OPTIONS pass is gone around', () => {
    const never = { end: 'forwarded', backend: 'ops', without: ['login'] } as const;
    const oauth = { provider: { google: {} }, options_passthrough: true };
    expect(prove(shop({}, { oauth }), { name: 'login', never })).toMatchObject({
      verdict: 'REFUTED',
      witness: { method: 'OPTIONS' },
      observed: { backend: 'ops' },
    });
    const where = "req.method != 'OPTIONS'";
    expect(prove(shop({}, { oauth }), { name: 'login', where, never })).toMatchObject({ verdict: 'PROVED' });
  });

  test('so is an action that lets CORS preflights pass', () => {
    const never = { end: 'forwarded', backend: 'ops', without: ['login'] } as const;
    const proofOf = (more: object) => {
      const actions = [{ type: 'oauth', config: { provider: 'google', ...more } }];
      const value = JSON.stringify({ on_http_request: [{ actions }] });
      return prove(shop({}, { traffic_policy: { value } }), { name: 'login', never });
    };
    expect(proofOf({})).toMatchObject({ verdict: 'PROVED' });
    expect(proofOf({ allow_cors_preflight: true })).toMatchObject({
      verdict: 'REFUTED',
      witness: { method: 'OPTIONS' },
      observed: { backend: 'ops' },
    });
  });

  test('a login is passed or not', () => {
    const never = { end: 'forwarded', backend: 'ops', without: ['login'] } as const;
    const oauth = { provider: { google: {} } };
    expect(prove(shop({}, { oauth }), { name: 'login', never })).toMatchObject({ verdict: 'PROVED' });
    expect(prove(shop(), { name: 'login', never })).toMatchObject({ verdict: 'REFUTED' });
  });

  test('what an action may do on the way is not decided', () => {
    const policy = (header: string) => ({
      traffic_policy: {
        value: JSON.stringify({
          on_http_request: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-a': header } } }] }],
        }),
      },
    });
    const health: Property = {
      name: 'health is never stopped',
      where: "req.url.path == '/health'",
      never: { end: 'stopped' },
    };
    expect(prove(shop(policy('1')), health)).toMatchObject({ verdict: 'PROVED' });
    expect(prove(shop(policy("${req.headers['x-b'][0]}")), health)).toMatchObject({
      verdict: 'REFUTED',
      observed: { status: 500 },
    });
    expect(prove(shop(policy('${req.method}')), health)).toMatchObject({
      verdict: 'UNDECIDED',
      open: [{ reasons: ['an action on the way may fail'] }],
    });
  });

  test('a response of the edge itself stops a request', () => {
    const rule = { expressions: [], actions: [{ type: 'custom-response', config: { status_code: 503 } }] };
    const value = JSON.stringify({ on_http_request: [rule] });
    const never: Property = {
      name: 'never stopped',
      where: "req.url.path == '/a'",
      never: { end: 'stopped' },
    };
    expect(prove(shop({ traffic_policy: { value } }), never)).toMatchObject({
      verdict: 'REFUTED',
      observed: { status: 503 },
    });
    // Without a backend the edge has to respond, too.
    expect(prove(shop({ backend: undefined }), never).verdict).not.toBe('PROVED');
  });

  test('an opaque condition decides nothing', () => {
    const rule = { expressions: ['size(req.headers) > 40'], actions: [{ type: 'deny', config: {} }] };
    const value = JSON.stringify({ on_http_request: [rule] });
    const never: Property = {
      name: 'never stopped',
      where: "req.url.path == '/a'",
      never: { end: 'stopped' },
    };
    const proof = prove(shop({ traffic_policy: { value } }), never);
    expect(proof).toMatchObject({ verdict: 'UNDECIDED' });
    expect(JSON.stringify(proof)).toContain('size(req.headers) > 40');
  });

  test('a request that does not fulfil an opaque `where` refutes nothing', () => {
    const where = 'size(req.headers) > 40';
    expect(prove(shop(), { name: 'large', where, never: { end: 'forwarded' } })).toMatchObject({
      verdict: 'UNDECIDED',
    });
  });

  test.each([
    [{ where: 'req.nothing' }, 'nothing'],
    [{ never: { end: 'forwarded', backend: 'oops' } }, "no backend 'oops'"],
  ] as const)('a wrong property: %o', (wrong, problem) => {
    const proof = prove(shop(), { ...strangers, ...wrong });
    expect(proof.verdict).toBe('INVALID');
    expect(JSON.stringify(proof)).toContain(problem);
  });
});

test('classes are listed in a stable order, with their outcomes', () => {
  const classes = classesOf(shop());
  expect(classes).toEqual(classesOf(shop()));
  expect(classes.map(({ where, outcome }) => `${where} ${outcome}`)).toEqual(
    expect.arrayContaining([
      'shop.test/admin… forwarded to ops',
      'shop.test/admin… denied by ip_restriction',
    ]),
  );
});

test('the library has the same functions', () => {
  const { config } = createEdge(oneRoute());
  expect(library.diff({ config }, { config }).verdict).toBe('equivalent');
  expect(library.prove(config, { name: 'closed', never: { end: 'forwarded' } }).verdict).toBe('REFUTED');
  expect(library.findings(config)).toEqual([]);
});
