import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { register as registerApply } from '../../src/cli/apply.ts';
import { register as registerExport } from '../../src/cli/export.ts';
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
    app: { static: { address: 'localhost:3000', tls: { enabled: true } } },
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

  it('is exported unchanged from another store', async () => {
    const other = await startInstance();
    const { document } = await exported();
    await other.call('PUT', '/edge_file', document);
    expect((await other.call('GET', '/edge_file')).body.document).toEqual(document);
    await other.close();
  });

  it('changes what differs and deletes what it lacks', async () => {
    const { split: _split, next: _next, app: _app, ...backends } = FILE.backends;
    const [first] = FILE.edges.https.shop.routes;
    const fixed = { http_response: { ...FILE.backends.fixed.http_response, status_code: 204, body: '' } };
    const edges = { https: { shop: { ...FILE.edges.https.shop, routes: [first] } } };
    const { body } = await put({ edges, backends: { ...backends, fixed } });
    expect(body.steps.map(({ action, name }: Record<string, string>) => `${action} ${name}`)).toEqual([
      'update fixed',
      expect.stringMatching(/^delete edghtsrt_/),
      'delete split',
      'delete next',
      'delete office',
      'delete app',
    ]);
    expect(served()).toBe(204);
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
    expect(leftOut).toEqual([
      `of ${mixed.id}: the tunnel group backends ${group.id}`,
      `${group.id}: a tunnel group backend`,
      `${bare.id}: an edge without hostports`,
      `the backend of ${route.id}: the tunnel group backend ${group.id}`,
    ]);
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

  it('reports settings that the instance decides', async () => {
    const { body } = await put(
      { ...FILE, service_name: 'other', address_databases: ['geo.mmdb'] },
      '?dry_run=true',
    );
    expect(body.notes).toEqual([
      "service_name: the file has 'other', this instance was started with 'service'",
      'address_databases: geo.mmdb stored for export only; select databases with the option --address-database',
    ]);
  });
});

describe('the command line', () => {
  async function run(args: readonly string[]): Promise<{ code: number; out: string }> {
    let out = '';
    const written = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += String(text);
      return true;
    });
    vi.stubEnv('EDGEPROOF_API_KEY', instance.key);
    const program = new Command().exitOverride();
    registerApply(program);
    registerExport(program);
    try {
      await program.parseAsync([...args, '--url', instance.url], { from: 'user' });
      return { code: Number(process.exitCode ?? 0), out };
    } finally {
      process.exitCode = 0;
      written.mockRestore();
      vi.unstubAllEnvs();
    }
  }

  it('shows a plan, applies it and exports the file', async () => {
    const path = join(instance.folder, 'edge.yaml');
    writeFileSync(path, JSON.stringify(FILE));
    const planned = await run(['apply', path, '--dry-run']);
    expect(planned.out).toContain('+ weighted backend split\n');
    expect(planned.out).toMatch(/\d+ would change\n$/);
    expect((await run(['apply', path])).out).toMatch(/\d+ changed\n$/);
    expect((await run(['apply', path])).out).toBe('nothing to change\n');
    const { code, out } = await run(['export']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject(FILE);
  });
});
