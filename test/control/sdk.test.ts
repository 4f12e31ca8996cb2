import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Ngrok as Client } from '@ngrok/ngrok-api';
import { type Instance, startInstance } from './instance.ts';
import { SAMPLES, once } from './samples.ts';

/** What every accessor of the SDK has. */
interface Accessor {
  create: (body: object) => Promise<Shown>;
  get: (id: string) => Promise<Shown>;
  list: () => Promise<Shown[]>;
  update: (body: object) => Promise<Shown>;
  delete: (id: string) => Promise<unknown>;
}

type Shown = Record<string, unknown> & { readonly id: string };

let instance: Instance;
// oxlint-disable-next-line typescript/no-explicit-any -- the accessors are many and are named below
let client: any;

/** The name that the SDK's service has: its version header says it. */
async function serviceOfSdk(): Promise<string> {
  const seen = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const header = Object.keys(request.headers).find((name) => name.endsWith('-version'));
    seen.resolve(header!.slice(0, -'-version'.length));
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Client({ apiToken: 'x', baseUrl }).apiKeys.get('ak_1');
  server.close();
  server.closeAllConnections();
  return seen.promise;
}

beforeAll(async () => {
  instance = await startInstance({ service: await serviceOfSdk(), emptyAsJson: true });
  client = new Client({ apiToken: instance.key, baseUrl: instance.url });
});
afterAll(() => instance.close());

/** `created_at` ↔ `createdAt`, for keys of the top. */
function camel(body: Record<string, unknown>): Record<string, unknown> {
  if (typeof body !== 'object' || body === null) return body;
  if (Array.isArray(body)) return body.map((each) => camel(each as never)) as never;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camel(value as never),
    ]),
  );
}

// table: accessors of the SDK and the kinds that they are for
const ACCESSORS: Readonly<Record<string, string>> = {
  apiKeys: 'api_key',
  botUsers: 'bot_user',
  credentials: 'tunnel_credential',
  certificateAuthorities: 'certificate_authority',
  tlsCertificates: 'tls_certificate',
  ipPolicies: 'ip_policy',
  ipPolicyRules: 'ip_policy_rule',
  ipRestrictions: 'ip_restriction',
  'backends.weightedBackends': 'weighted_backend',
  'backends.failoverBackends': 'failover_backend',
  'backends.staticBackends': 'static_backend',
  'backends.httpResponseBackends': 'http_response_backend',
  'backends.tunnelGroupBackends': 'tunnel_group_backend',
  'edges.edgesHttps': 'https_edge',
  'edges.edgesTcp': 'tcp_edge',
  'edges.edgesTls': 'tls_edge',
  eventDestinations: 'event_destination',
  eventSubscriptions: 'event_subscription',
  reservedDomains: 'domain',
  reservedAddrs: 'tcp_address',
};

/** What the SDK has and this version has not. */
const ABSENT = [
  'abuseReports',
  'agentIngresses',
  'applicationSessions',
  'applicationUsers',
  'sshCertificateAuthorities',
  'sshCredentials',
  'sshHostCertificates',
  'sshUserCertificates',
];

/** What is read only, or has tests of its own below. */
const OTHERWISE = [
  'tunnelSessions',
  'endpoints',
  'tunnels',
  'eventSources',
  'backends',
  'edges',
  'edgeModules',
];

function accessor(path: string): Accessor {
  return path.split('.').reduce((at, key) => at[key], client) as Accessor;
}

/** Just above one page. */
const MANY = 103;

describe('the published SDK of the service, unmodified', () => {
  it('has no accessor that is missing in this list', () => {
    const groups = Object.keys(client).filter((key) => !['baseUrl', 'token', 'httpClient'].includes(key));
    const named = new Set([
      ...Object.keys(ACCESSORS).map((path) => path.split('.')[0]!),
      ...ABSENT,
      ...OTHERWISE,
    ]);
    expect(groups.filter((key) => !named.has(key))).toEqual([]);
  });

  it.each(Object.entries(ACCESSORS))(
    '%s: create, get, list past a page, update, delete',
    async (path, kind) => {
      const at = accessor(path);
      const sample = SAMPLES[kind]!;
      const before = (await at.list()).length;
      const made: Shown[] = [];
      for (let number = 1; number <= (sample.once === true ? 1 : MANY); number++) {
        made.push(await at.create(camel(await sample.create(instance, number))));
      }
      const [first] = made;
      const got = await at.get(first!.id);
      expect(got).toMatchObject({ id: first!.id, createdAt: first!['createdAt'] });

      const listed = await at.list();
      expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
      expect(listed.length).toBeGreaterThanOrEqual(before + made.length);
      const newest = made.toReversed().map(({ id }) => id);
      expect(listed.map(({ id }) => id).filter((id) => newest.includes(id))).toEqual(newest);

      const updated = await at.update({ id: first!.id, ...camel(sample.update) });
      expect(updated.id).toBe(first!.id);
      for (const { id } of made) await at.delete(id);
      await expect(at.get(first!.id)).rejects.toMatchObject({ statusCode: 404 });
      await expect(at.get(first!.id)).rejects.toHaveProperty('details');
    },
  );

  it('routes with all their configuration', async () => {
    const edge = await client.edges.edgesHttps.create({ hostports: ['routes.test:443'] });
    const backendId = await once(instance, '/backends/http_response', { body: 'x' });
    const route = await client.edges.edgesHttpsRoutes.create({
      edgeId: edge.id,
      matchType: 'path_prefix',
      match: '/',
      backend: { backendId },
      requestHeaders: { add: { 'X-Added-By': 'edge' }, remove: ['X-Gone'] },
      trafficPolicy: { enabled: true, value: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}' },
    });
    expect(route.backend.backend.id).toBe(backendId);
    const { body } = await instance.call('GET', `/edges/https/${edge.id}/routes/${route.id}`);
    expect(body.request_headers.add).toEqual({ 'X-Added-By': 'edge' });
    const updated = await client.edges.edgesHttpsRoutes.update({
      edgeId: edge.id,
      id: route.id,
      metadata: 'm',
    });
    expect(updated).toMatchObject({ metadata: 'm', match: '/' });
    expect((await client.edges.edgesHttps.get(edge.id)).routes).toHaveLength(1);

    const at = client.edgeModules.edgeRouteCompressionModule;
    const path = { edgeId: edge.id, id: route.id };
    expect(await at.replace({ ...path, module: { enabled: true } })).toEqual({ enabled: true });
    expect(await at.get(path)).toEqual({ enabled: true });
    await at.delete(path);
    await expect(at.get(path)).rejects.toMatchObject({ statusCode: 404 });
    await client.edges.edgesHttpsRoutes.delete(path);
    await client.edges.edgesHttps.delete(edge.id);
  });

  it('modules of edges', async () => {
    const authority = await client.certificateAuthorities.create(
      camel(await SAMPLES['certificate_authority']!.create(instance, 1)),
    );
    const edge = await client.edges.edgesHttps.create({ hostports: ['mutual.test:443'] });
    const at = client.edgeModules.httpsEdgeMutualTlsModule;
    const module = { certificateAuthorityIds: [authority.id] };
    const replaced = await at.replace({ id: edge.id, module });
    expect(replaced.certificateAuthorities[0].id).toBe(authority.id);
    expect((await at.get(edge.id)).enabled).toBe(true);
    await at.delete(edge.id);
    const termination = client.edgeModules.httpsEdgeTlsTerminationModule;
    expect(await termination.replace({ id: edge.id, module: { minVersion: '1.3' } })).toMatchObject({
      minVersion: '1.3',
      terminateAt: 'edge',
    });
    await client.edges.edgesHttps.delete(edge.id);
  });

  it('event sources', async () => {
    const subscription = await client.eventSubscriptions.create({ sources: [], destinationIds: [] });
    const at = client.eventSources;
    const path = { subscriptionId: subscription.id, type: 'ip_policy_created.v0' };
    expect(await at.create(path)).toMatchObject({ type: path.type });
    expect(await at.get(path)).toMatchObject({ type: path.type });
    expect((await at.list(path)).sources).toHaveLength(1);
    expect(await at.update(path)).toMatchObject({ type: path.type });
    await at.delete(path);
    await expect(at.get(path)).rejects.toMatchObject({ statusCode: 404 });
  });

  it('online objects: none', async () => {
    expect(await client.tunnelSessions.list()).toEqual([]);
    expect(await client.tunnels.list()).toEqual([]);
    expect(await client.endpoints.list()).toEqual([]);
    await expect(client.tunnelSessions.restart('ts_1')).rejects.toMatchObject({ statusCode: 404 });
    await expect(client.tunnelSessions.update({ id: 'ts_1' })).rejects.toMatchObject({ statusCode: 404 });
  });

  it('rejects after a successful deletion, unless --json-for-empty is set', async () => {
    const { id } = await client.apiKeys.create({});
    const strict = await startInstance({ service: await serviceOfSdk() });
    const other = new Client({ apiToken: strict.key, baseUrl: strict.url });
    const key = await other.apiKeys.create({});
    await expect(other.apiKeys.delete(key.id)).rejects.toThrow(SyntaxError);
    await expect(other.apiKeys.get(key.id)).rejects.toMatchObject({ statusCode: 404 });
    await strict.close();
    await client.apiKeys.delete(id);
  });
});
