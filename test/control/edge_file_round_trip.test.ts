import * as fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { loadConfig } from '../../src/project_files/load_config.ts';
import { someAuthority } from './certificates.ts';
import { type Instance, startInstance } from './instance.ts';
import { sized } from '../random.ts';

let instance: Instance;
let empty: Instance;
beforeAll(async () => {
  instance = await startInstance();
  empty = await startInstance();
});
afterAll(async () => {
  await instance.close();
  await empty.close();
});

const RUNS = 25;
const POLICIES = ['office', 'home'];
const DIALLED = ['app', 'other', 'safe', 'mixed'];
const BACKENDS = [...DIALLED, 'down'];

const notes = { description: fc.string({ maxLength: 20 }), metadata: fc.constantFrom('', '{"a":1}', 'ä😀') };
const only = (shape: Record<string, fc.Arbitrary<unknown>>) => fc.record(shape, { requiredKeys: [] });
const enabled = fc.boolean();
const chosen = (from: readonly string[]) => fc.subarray([...from], { minLength: 1 });

const ipPolicy = fc.record({
  rules: fc.uniqueArray(
    fc.record({
      cidr: fc.constantFrom('192.0.2.0/24', '10.0.0.0/8', '2001:db8::/32', '127.0.0.1/32'),
      action: fc.constantFrom('allow', 'deny'),
    }),
    { selector: ({ cidr }) => cidr },
  ),
});
const backends = fc.record({
  app: fc.record({
    static: fc.record(
      { address: fc.constantFrom('localhost:3000', '[::1]:81'), proxy_protocol: fc.constantFrom('v1', 'v2') },
      { requiredKeys: ['address'] },
    ),
  }),
  other: only({ ...notes, static: fc.constant({ address: 'a.test:1', tls: { enabled: true } }) }).map(
    (each) => Object.assign({ static: { address: 'b.test:2' } }, each),
  ),
  safe: fc.record({ failover: fc.subarray(['app', 'other']) }),
  mixed: fc.record({ weighted: fc.dictionary(fc.constantFrom('app', 'other', 'safe'), fc.nat(10_000)) }),
  down: fc.record({
    http_response: fc.record({
      status_code: fc.constantFrom(200, 503),
      body: fc.string({ maxLength: 9 }),
      headers: fc.constantFrom({}, { 'x-a': 'b' }),
    }),
  }),
});
const policy = fc.constantFrom(
  { value: '{"on_http_request": []}', enabled: false },
  {
    value:
      '{"on_http_request": [{"actions": [{"type": "restrict-ips", "config": {"ip_policies": ["office"]}}]}]}',
  },
);
const shared = { ip_restriction: fc.record({ enabled, ip_policy_ids: chosen(POLICIES) }) };
const mutual = fc.record({ enabled, certificate_authority_ids: fc.constant(['partners']) });
const version = fc.constantFrom('1.0', '1.1', '1.2', '1.3');
const backendOf = (names: readonly string[]) => fc.record({ enabled, backend_id: fc.constantFrom(...names) });

const modules = only({
  ...notes,
  ...shared,
  backend: backendOf(BACKENDS),
  compression: fc.record({ enabled }),
  circuit_breaker: fc.record({ num_buckets: fc.integer({ min: 1, max: 128 }) }),
  request_headers: fc.constant({ add: { 'x-edge': 'yes' }, remove: ['cookie'] }),
  user_agent_filter: fc.constant({ deny: ['^curl'] }),
  webhook_verification: fc.constant({ provider: 'github', secret: 'hush' }),
  oidc: fc.constant({ issuer: 'https://login.test', client_id: 'a', client_secret: 'hidden' }),
  traffic_policy: policy,
});
const route = fc
  .tuple(
    fc.constantFrom('exact_path', 'path_prefix'),
    fc.constantFrom('/', '/a', '/a/b', 'shop.test/x'),
    modules,
  )
  .map(([match_type, match, more]) => Object.assign({ match_type, match }, more));
const https = only({
  ...notes,
  tls_termination: fc.record({ enabled, min_version: version, redirect_http: fc.boolean() }),
  mutual_tls: mutual,
  routes: fc.uniqueArray(route, { selector: ({ match_type: type, match }) => type + match, maxLength: 4 }),
});
const tls = only({
  ...notes,
  ...shared,
  backend: backendOf(DIALLED),
  tls_termination: fc.record({
    enabled: fc.constant(true),
    terminate_at: fc.constant('edge'),
    min_version: version,
  }),
  mutual_tls: mutual,
});
const tcp = only({ ...notes, ...shared, backend: backendOf(DIALLED) });

/** Gives each edge some of the hosts, none to two of them. */
function withHosts<Edge extends object>(
  edge: fc.Arbitrary<Edge>,
  names: readonly string[],
  hosts: readonly string[],
) {
  return fc
    .tuple(
      fc.array(edge, { maxLength: names.length }),
      fc.shuffledSubarray([...hosts], { minLength: hosts.length }),
    )
    .map(([edges, order]) =>
      Object.fromEntries(
        edges.map((each, index) => [names[index]!, { ...each, hostports: [order[index]!] }]),
      ),
    );
}

function files() {
  const { pem, key } = someAuthority();
  return fc.record(
    {
      facts: fc.constantFrom<unknown>(
        [{ cidr: '192.0.2.0/24', geo: { location: { country_code: 'DE' } } }],
        [{ variables: { 'conn.geo.city': 'Jena' } }],
      ),
      address_databases: fc.constantFrom([], ['geo.mmdb']),
      ip_policies: fc.record({ office: ipPolicy, home: ipPolicy }),
      backends,
      tls_certificates: fc.constantFrom({}, { main: { certificate_pem: pem, private_key_pem: key } }),
      certificate_authorities: fc.record({ partners: fc.constant({ ca_pem: pem, metadata: 'm' }) }),
      edges: fc.record({
        https: withHosts(https, ['shop', 'web'], ['shop.test:443', '*.shop.test:443', 'web.test:443']),
        tls: withHosts(tls, ['db'], ['db.test:443', 'db.test:5432']),
        tcp: withHosts(tcp, ['mail', 'ssh'], ['mail.test:25', 'ssh.test:22']),
      }),
    },
    { requiredKeys: ['ip_policies', 'backends', 'certificate_authorities', 'edges'] },
  );
}

/** A file as the edge understands it: defaults filled in, in the order that has no meaning. */
function meant(file: unknown): unknown {
  const { config, diagnostics } = checkWholeEdge({ value: file });
  if (config === null) throw new Error(JSON.stringify(diagnostics));
  const withoutEmpty = (_key: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { description, metadata, tls: upstream, ...rest } = value as Record<string, unknown>;
    const isPlain = JSON.stringify(upstream) === '{"enabled":false}';
    const kept = {
      ...rest,
      ...(description !== '' && description !== undefined && { description }),
      ...(metadata !== '' && metadata !== undefined && { metadata }),
      ...(upstream !== undefined && !isPlain && { tls: upstream }),
    };
    return Object.fromEntries(Object.entries(kept).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  };
  const { address_databases: databases, ...rest } = config;
  const lists = { ...rest, ...(databases.length > 0 && { address_databases: databases }) };
  const text = JSON.stringify(lists, withoutEmpty);
  return JSON.parse(text, (key, value: unknown) =>
    key === 'rules' || key === 'routes'
      ? (value as unknown[]).map((each) => JSON.stringify(each)).toSorted()
      : value,
  );
}

const exportOf = async (of: Instance) =>
  (await of.call('GET', '/edge_file?private_keys=true&secrets=true')).body as {
    document: object;
    left_out: string[];
  };

describe('edge files', () => {
  it(`${RUNS} of them, applied over each other, are exported unchanged`, async () => {
    await fc.assert(
      fc.asyncProperty(files(), async (file) => {
        const applied = await instance.call('PUT', '/edge_file', file);
        expect([applied.status, applied.body.msg]).toEqual([200, undefined]);
        const { document, left_out: leftOut } = await exportOf(instance);
        expect(leftOut).toEqual([]);
        expect(meant(document)).toEqual(meant(file));
        expect((await instance.call('PUT', '/edge_file', document)).body.steps).toEqual([]);

        // What the plane runs is the file with ids for names.
        const served = instance.management.edge.config;
        expect(Object.keys(served.edges.tcp)).toHaveLength(Object.keys(file.edges.tcp).length);
        const elsewhere = await empty.call('PUT', '/edge_file', document);
        expect(elsewhere.status).toBe(200);
        expect(meant((await exportOf(empty)).document)).toEqual(meant(document));
      }),
      sized(RUNS, 6),
    );
  });

  it('objects of the API are transferred to an empty store unchanged, named by their ids', async () => {
    const own = await startInstance();
    const other = await startInstance();
    const { pem, key } = someAuthority();
    const { id: authority } = await own.make('/certificate_authorities', { ca_pem: pem });
    await own.make('/tls_certificates', { certificate_pem: pem, private_key_pem: key, description: 'd' });
    const { id: policyId } = await own.make('/ip_policies', {});
    await own.make('/ip_policy_rules', { ip_policy_id: policyId, cidr: '10.0.0.0/8', action: 'allow' });
    const { id: backendId } = await own.make('/backends/static', { address: 'localhost:3000' });
    const module = { backend: { backend_id: backendId }, ip_restriction: { ip_policy_ids: [policyId] } };
    await own.make('/edges/tcp', { hostports: ['a.test:1'], ...module });
    await own.make('/edges/tls', {
      hostports: ['b.test:443'],
      ...module,
      mutual_tls: { certificate_authority_ids: [authority] },
    });
    const edge = await own.make('/edges/https', {
      hostports: ['c.test:443'],
      tls_termination: { min_version: '1.3' },
    });
    const value = JSON.stringify({
      on_http_request: [{ actions: [{ type: 'restrict-ips', config: { ip_policies: [policyId] } }] }],
    });
    await own.make(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      ...module,
      traffic_policy: { value },
    });
    const { document } = await exportOf(own);
    expect((await other.call('PUT', '/edge_file', document)).status).toBe(200);
    expect((await exportOf(other)).document).toEqual(document);
    expect(meant(document)).toEqual(meant((await exportOf(other)).document));
    await Promise.all([own.close(), other.close()]);
  });
});

describe('private keys', () => {
  it('are exported only on request, and kept if a file lacks them', async () => {
    const own = await startInstance();
    const { pem, key } = someAuthority();
    const file = {
      tls_certificates: { main: { certificate_pem: pem, private_key_pem: key } },
      edges: { https: {} },
    };
    await own.call('PUT', '/edge_file', file);
    const { body } = await own.call('GET', '/edge_file');
    expect(JSON.stringify(body)).not.toContain('PRIVATE KEY');
    expect(body.left_out).toEqual(['the private key of main: store it in main-key.pem']);
    const path = join(own.folder, 'exported.json');
    writeFileSync(path, JSON.stringify(body.document));
    expect((await loadConfig(path)).config).toBeNull();
    const { config } = await loadConfig(path, { secretsMayBeMissing: true });
    expect((await own.call('PUT', '/edge_file', config)).body.steps).toEqual([]);
    const other = await startInstance();
    const refused = await other.call('PUT', '/edge_file', config!);
    expect([refused.status, refused.body.details.pointer]).toEqual([
      400,
      '/tls_certificates/main/private_key_pem',
    ]);

    // Files beside the edge file are named again, also where the text was given.
    writeFileSync(join(own.folder, 'cert.pem'), pem);
    writeFileSync(join(own.folder, 'key.pem'), key);
    const certificate = { certificate_file: 'cert.pem', private_key_file: 'key.pem' };
    const named = {
      ...file,
      tls_certificates: { main: certificate },
      certificate_authorities: { ca: { ca_file: 'cert.pem' } },
    };
    writeFileSync(path, JSON.stringify(named));
    await other.call('PUT', '/edge_file', (await loadConfig(path)).config!);
    const { document } = (await other.call('GET', '/edge_file')).body;
    expect(document).toMatchObject(named);
    expect(other.management.edge.runtime.current().handshakes.certificateFor('nobody.test')).toBeNull();
    await Promise.all([own.close(), other.close()]);
  });
});
