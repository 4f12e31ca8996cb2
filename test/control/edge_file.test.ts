import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneRoute } from '../one_route.ts';
import { runVerb } from './command_line.ts';
import { type Instance, startInstance } from './instance.ts';

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance();
});
afterAll(() => instance.close());

const FILE = {
  ip_policies: {
    office: {
      description: 'Where we are.',
      rules: [
        { cidr: '192.0.2.0/24', action: 'allow' },
        { cidr: '192.0.2.7/32', action: 'deny', metadata: 'x' },
      ],
    },
  },
  backends: {
    split: { weighted: { next: 3, fixed: 1 } },
    next: { failover: ['app', 'fixed'] },
    app: { static: { address: 'localhost:3000', tls: { enabled: true }, protocol: 'http2' } },
    fixed: { metadata: 'm', http_response: { status_code: 203, headers: { 'x-a': 'b' }, body: 'fixed' } },
  },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443', '*.shop.test:443'],
        routes: [
          { match_type: 'path_prefix', match: '/', backend: { backend_id: 'fixed' } },
          {
            match_type: 'exact_path',
            match: '/admin',
            backend: { backend_id: 'split' },
            ip_restriction: { ip_policy_ids: ['office'] },
            circuit_breaker: { num_buckets: 5 },
            compression: {},
          },
        ],
      },
    },
  },
};

const put = (file: object, query = '') => instance.call('PUT', `/edge_file${query}`, file);
const exported = async () => (await instance.call('GET', '/edge_file')).body;
const served = () => instance.management.edge.decide({ method: 'GET', url: 'https://shop.test/' }).status;

describe('an edge file', () => {
  it('is applied completely as planned, and exported unchanged', async () => {
    const planned = await put(FILE, '?dry_run=true');
    expect(planned.body.steps).toHaveLength(10);
    expect((await instance.call('GET', '/edges/https')).body.https_edges).toEqual([]);
    expect(served()).toBe(404);

    const applied = await put(FILE);
    expect(applied.body.steps).toEqual(planned.body.steps);
    expect(applied.body.steps.map(({ kind }: { kind: string }) => kind).slice(3, 7)).toEqual([
      'static_backend',
      'http_response_backend',
      'failover_backend',
      'weighted_backend',
    ]);
    expect(served()).toBe(203);
    const { document, left_out: leftOut } = await exported();
    expect(leftOut).toEqual([]);
    expect(document).toMatchObject(FILE);
    expect((await put(document)).body.steps).toEqual([]);
    expect((await exported()).document).toEqual(document);
  });

  it.each(['address_databases', 'service_name', 'properties'])(
    'with a malformed %s is refused',
    async (key) => {
      const { status, body } = await put({ ...FILE, [key]: 5 }, '?dry_run=true');
      expect([status, body.details.pointer]).toEqual([400, `/${key}`]);
    },
  );

  it('is exported unchanged from another store', async () => {
    const other = await startInstance();
    const { document } = await exported();
    await other.call('PUT', '/edge_file', document);
    expect((await other.call('GET', '/edge_file')).body.document).toEqual(document);
    await other.close();
  });

  it('changes what differs and deletes what it lacks', async () => {
    const { split: _split, next: _next, app: _app, ...backends } = FILE.backends;
    const [first, gone] = FILE.edges.https.shop.routes;
    const fixed = { http_response: { ...FILE.backends.fixed.http_response, status_code: 204, body: '' } };
    const edges = { https: { shop: { ...FILE.edges.https.shop, routes: [first] } } };
    const { body } = await put({ edges, backends: { ...backends, fixed } });
    expect(body.steps.map(({ action, name }: Record<string, string>) => `${action} ${name}`)).toEqual([
      'update fixed',
      `delete shop ${gone!.match_type} ${gone!.match}`,
      'delete split',
      'delete next',
      'delete office',
      'delete app',
    ]);
    expect(served()).toBe(204);
  });

  it('has policies as maps, too, but not in files of their own', async () => {
    const other = await startInstance();
    const phases = { on_http_request: [{ actions: [{ type: 'deny', config: { status_code: 418 } }] }] };
    const sent = (policy: object) => other.call('PUT', '/edge_file', oneRoute({ traffic_policy: policy }));
    expect((await sent(phases)).status).toBe(200);
    expect(other.management.edge.decide({ method: 'GET', url: 'https://shop.test/' }).status).toBe(418);
    const [at, refused] = ['/edges/https/shop/routes/0/traffic_policy', { status: 400 }];
    expect(await sent({ file: 'a.yaml' })).toMatchObject({
      ...refused,
      body: { details: { pointer: `${at}/file` } },
    });
    expect(await sent({ ...phases, value: '{}' })).toMatchObject({
      ...refused,
      body: { details: { pointer: `${at}/on_http_request` } },
    });
    expect(other.management.edge.decide({ method: 'GET', url: 'https://shop.test/' }).status).toBe(418);
    await other.close();
  });

  it('changes nothing if it has an error', async () => {
    const { document } = await exported();
    const edges = {
      https: {
        shop: { hostports: ['shop.test:443'], routes: [{ match_type: 'path_prefix', match: 'https://x' }] },
      },
    };
    const answer = await put({ ...FILE, edges });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'ERR_SERVICE_7131']);
    const loop = await put({ ...FILE, backends: { ...FILE.backends, next: { failover: ['split'] } } });
    expect(loop.status).toBe(400);
    expect((await exported()).document).toEqual(document);
  });

  it.each([
    ['/edgess', ({ edges, ...others }: typeof FILE) => ({ ...others, edgess: edges })],
    ['/edges/htps', ({ edges, ...others }: typeof FILE) => ({ ...others, edges: { htps: edges.https } })],
    ['/include', (file: typeof FILE) => ({ ...file, include: 'others/*.yaml' })],
  ])('deletes nothing if it has the unknown key %s', async (pointer, changed) => {
    const { document } = await exported();
    const { status, body } = await put(changed(FILE));
    expect([status, body.error_code, body.details.pointer]).toEqual([400, 'ERR_SERVICE_214', pointer]);
    expect((await exported()).document).toEqual(document);
  });

  it('does not affect objects that it cannot express, and export reports them', async () => {
    const group = await instance.make('/backends/tunnel_group', { labels: { a: 'b' } });
    const mixed = await instance.make('/backends/weighted', { backends: { [group.id]: 1 } });
    const bare = await instance.make('/edges/https', {});
    const edge = await instance.make('/edges/https', { hostports: ['words.test:443'] });
    const routes = `/edges/https/${edge.id}/routes`;
    const toGroup = { match_type: 'exact_path', match: '/', backend: { backend_id: group.id } };
    const route = await instance.make(routes, toGroup);
    await instance.make(routes, { ...toGroup, match: '/mixed', backend: { backend_id: mixed.id } });
    await instance.call('PUT', `/edges/https/${edge.id}/tls_termination`, { min_version: '1.3' });
    const { document, left_out: leftOut } = await exported();
    expect(leftOut).toEqual([`${bare.id}: an edge without hostports`]);
    expect(document.backends).toMatchObject({
      [group.id]: { tunnel_group: { labels: { a: 'b' } } },
      [mixed.id]: { weighted: { [group.id]: 1 } },
    });
    expect((await put(document)).body.steps).toEqual([]);
    for (const path of [`/edges/https/${bare.id}`, `${routes}/${route.id}`, `/backends/weighted/${mixed.id}`])
      expect((await instance.call('GET', path)).status).toBe(200);
    const other = {
      ...document.edges.https[edge.id],
      tls_termination: { min_version: '1.2', redirect_http: true },
    };
    await put({
      ...document,
      edges: { ...document.edges, https: { ...document.edges.https, [edge.id]: other } },
    });
    const { body } = await instance.call('GET', `/edges/https/${edge.id}`);
    expect(body.tls_termination).toEqual({ enabled: true, min_version: '1.2', terminate_at: 'edge' });
    expect(body.routes[0].backend.backend.id).toBe(group.id);
    expect((await exported()).document.edges.https[edge.id].tls_termination.redirect_http).toBe(true);
  });

  it('warns about what has no effect, in plans', async () => {
    const { shop } = FILE.edges.https;
    const [main, admin] = shop.routes;
    const file = {
      ...FILE,
      ip_policies: {
        office: {
          rules: [
            { cidr: '10.0.0.0/8', action: 'allow' },
            { cidr: '10.1.0.0/16', action: 'allow' },
          ],
        },
      },
      edges: { https: { shop: { ...shop, routes: [main, { ...admin!, match_type: 'path_prefix' }] } } },
    };
    const { status, body } = await put(file, '?dry_run=true&exact=true');
    expect(status).toBe(200);
    expect(body.warnings).toContainEqual({
      code: 'analysis.redundant_range',
      severity: 'warning',
      basis: 'proved',
      message: expect.any(String) as unknown,
      pointer: '/ip_policies/office/rules/1',
    });
    expect((await put(file, '?dry_run=true')).body).not.toHaveProperty('warnings');
    expect(await put(file, '?exact=true')).toMatchObject({ status: 400 });
    const large = { ...file, edges: { https: { shop: { ...shop, metadata: 'x'.repeat(4_000) } } } };
    const many = Object.fromEntries(
      Array.from({ length: 80 }, (_, at) => [`b${at}`, { metadata: 'x'.repeat(4_000) }]),
    );
    expect(await put({ ...large, backends: many }, '?dry_run=true&exact=true')).toMatchObject({
      status: 400,
    });
  });

  it('reports settings that the instance decides', async () => {
    const { body } = await put(
      {
        ...FILE,
        service_name: 'other',
        address_databases: ['geo.mmdb'],
        properties: [{ use: 'https-only' }],
      },
      '?dry_run=true',
    );
    expect(body.notes).toEqual([
      "service_name: the file has 'other', this instance was started with 'service'",
      'address_databases: geo.mmdb stored for export only; select databases with the option --address-database',
      'properties: not stored; `edgeproof prove` reads them from the file',
    ]);
  });
});

describe('the command line', () => {
  const run = (args: readonly string[]) => runVerb(instance, [...args, '--url', instance.url]);

  it('shows a plan, applies it and exports the file', async () => {
    const path = join(instance.folder, 'edge.yaml');
    writeFileSync(path, JSON.stringify(FILE));
    const planned = await run(['apply', path, '--dry-run']);
    expect(planned.out).toContain('+ weighted backend split\n');
    expect(planned.out).toMatch(/\n13 would change: 7 created, 1 updated, 5 deleted\n$/);
    expect(planned.code).toBe(5);
    const asData = await run(['apply', path, '--dry-run', '-r', 'json']);
    expect(asData.code).toBe(5);
    const { dry_run: isDry, steps, notes } = JSON.parse(asData.out);
    expect([isDry, steps.length, notes]).toEqual([true, 13, expect.any(Array)]);
    expect(steps).toContainEqual({ action: 'create', kind: 'weighted_backend', name: 'split' });
    const applied = await run(['apply', path]);
    expect([applied.code, applied.out]).toEqual([0, planned.out.replace('would change', 'changed')]);
    expect(await run(['apply', path])).toMatchObject({ code: 0, out: 'nothing to change\n' });
    const again = await run(['apply', path, '--dry-run']);
    expect(again).toMatchObject({ code: 0, out: 'nothing to change\n' });
    const { code, out } = await run(['export']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject(FILE);
  });

  it('says what is wrong with the address and the key', async () => {
    const asked = (key: string, url: string) => runVerb({ ...instance, key }, ['export', '--url', url]);
    expect(await asked('', instance.url)).toMatchObject({
      code: 2,
      err: 'there is no key of the management API; set EDGEPROOF_API_KEY to one, which `edgeproof keys create` makes\n',
    });
    expect(await asked('k', 'edge.test:4040')).toMatchObject({
      code: 2,
      err: 'edge.test:4040 is not the URL of a management API; write it as http://edge.test:4040\n',
    });
    expect(await asked('k', instance.url)).toMatchObject({
      code: 4,
      err: `ERR_SERVICE_202: The API key is malformed; the key in EDGEPROOF_API_KEY has to be one of ${instance.url}\n`,
    });
    expect((await asked('k', 'http://127.0.0.1:1')).code).toBe(4);
  });

  it('names the service of the instance if it is called by another name', async () => {
    const path = join(instance.folder, 'edge.yaml');
    for (const verb of [['apply', path], ['export']]) {
      expect(await run([...verb, '--service-name', 'acme'])).toEqual({
        code: 4,
        out: '',
        err: 'ERR_SERVICE_218: The request has no header service-version; send 2; this instance was started with the service name service: give --service-name service\n',
      });
    }
  });

  it('compares a file with the running edge', async () => {
    const path = join(instance.folder, 'compared.yaml');
    writeFileSync(path, JSON.stringify(FILE));
    await run(['apply', path]);
    const diff = (...names: readonly string[]) => runVerb(instance, ['diff', ...names]);
    const keyed = (key: string) => runVerb({ ...instance, key }, ['diff', path, instance.url]);
    const same = await diff(path, instance.url);
    expect(same).toMatchObject({ code: 0, out: expect.stringMatching(/^PROVED EQUIVALENT/) });
    writeFileSync(path, JSON.stringify(FILE).replace('"x-a":"b"', '"x-a":"c"'));
    expect((await diff(instance.url, path)).code).toBe(5);
    expect((await keyed('wrong')).code).toBe(4);
    expect((await keyed('')).code).toBe(2);
    expect((await diff(path, 'http://127.0.0.1:1')).code).toBe(4);
  });
});
