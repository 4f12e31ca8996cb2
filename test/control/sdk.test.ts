import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Ngrok as Client } from '@ngrok/ngrok-api';
import { type Instance, startInstance } from './instance.ts';
import { once as arrival } from 'node:events';
import { connect } from 'node:tls';
import { ISSUER } from '../auth/gate_edge.ts';
import { IDP_METADATA } from '../auth/saml/idp_metadata.ts';
import { CALL, agentOver } from '../tunnel/handmade_agent.ts';
import { selfSigned } from './certificates.ts';
import { gate, logIn, options } from './gated_edge.ts';
import { SAMPLES, once } from './samples.ts';
import { IS_FULL } from '../random.ts';

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

/** Methods of the SDK by their path: `backends.staticBackends.create`. */
const METHODS: string[] = [];
/** Those that a test has called and whose promise was fulfilled. */
const succeeded = new Set<string>();

/** Counts every method of an accessor, and of those below it. */
function count(at: Record<string, unknown>, path: string): void {
  const prototype = Object.getPrototypeOf(at) as object;
  const names = prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype);
  for (const name of names) {
    const method = at[name];
    if (name === 'constructor' || name.startsWith('_') || typeof method !== 'function') continue;
    const whole = path + name;
    METHODS.push(whole);
    at[name] = async (...values: unknown[]) => {
      const answer: unknown = await method.apply(at, values);
      succeeded.add(whole);
      return answer;
    };
  }
  for (const [name, below] of Object.entries(at))
    if (typeof below === 'object' && below !== null && name !== 'httpClient')
      count(below as Record<string, unknown>, `${path}${name}.`);
}

beforeAll(async () => {
  instance = await startInstance({
    service: await serviceOfSdk(),
    emptyAsJson: true,
    edge: options,
    agents: { reservedOnly: false },
  });
  client = new Client({ apiToken: instance.key, baseUrl: instance.url });
  for (const [name, below] of Object.entries(client))
    if (typeof below === 'object' && below !== null && name !== 'httpClient')
      count(below as Record<string, unknown>, `${name}.`);
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
  agentIngresses: 'agent_ingress',
  sshCertificateAuthorities: 'ssh_certificate_authority',
  sshCredentials: 'ssh_public_key',
  sshHostCertificates: 'ssh_host_certificate',
  sshUserCertificates: 'ssh_user_certificate',
};

const enabled = {};
const backend = (ids: Ids) => ({ backendId: ids['backend'] });
const ipRestriction = (ids: Ids) => ({ ipPolicyIds: [ids['policy']] });
const mutualTls = (ids: Ids) => ({ certificateAuthorityIds: [ids['authority']] });
const headers = { add: { 'X-A': 'b' }, remove: ['X-C'] };

type Ids = Readonly<Record<string, string>>;

// table: values of modules by accessor
const MODULES: Readonly<Record<string, object | ((ids: Ids) => object)>> = {
  httpsEdgeMutualTlsModule: mutualTls,
  httpsEdgeTlsTerminationModule: { minVersion: '1.3' },
  edgeRouteBackendModule: backend,
  edgeRouteIpRestrictionModule: ipRestriction,
  edgeRouteRequestHeadersModule: headers,
  edgeRouteResponseHeadersModule: headers,
  edgeRouteCompressionModule: enabled,
  edgeRouteCircuitBreakerModule: {
    trippedDuration: 10,
    rollingWindow: 10,
    numBuckets: 10,
    volumeThreshold: 10,
    errorThresholdPercentage: 0.5,
  },
  edgeRouteWebhookVerificationModule: { provider: 'github', secret: 's' },
  edgeRouteOAuthModule: { provider: { google: {} } },
  edgeRouteSamlModule: { idpMetadata: IDP_METADATA },
  edgeRouteOidcModule: { issuer: ISSUER, clientId: 'c', clientSecret: 's' },
  edgeRouteWebsocketTcpConverterModule: enabled,
  edgeRouteUserAgentFilterModule: { deny: ['curl'] },
  tcpEdgeBackendModule: backend,
  tcpEdgeIpRestrictionModule: ipRestriction,
  tlsEdgeBackendModule: backend,
  tlsEdgeIpRestrictionModule: ipRestriction,
  tlsEdgeMutualTlsModule: mutualTls,
  tlsEdgeTlsTerminationModule: { terminateAt: 'edge' },
};

function selfIssued() {
  const { pem, key } = selfSigned('localhost');
  return { certificatePem: pem, privateKeyPem: key };
}

function accessor(path: string): Accessor {
  return path.split('.').reduce((at, key) => at[key], client) as Accessor;
}

/** Just above one page. */
const MANY = 103;
/** The kind of which the fast run makes a page, too: the list of all kinds is the same code. */
const PAGED: ReadonlySet<string> = new Set(['ip_policy']);

describe('the published SDK of the service, unmodified', () => {
  it.each(Object.entries(ACCESSORS))('%s: create, get, list, update, delete', async (path, kind) => {
    const at = accessor(path);
    const sample = SAMPLES[kind]!;
    const before = (await at.list()).length;
    const made: Shown[] = [];
    const many = IS_FULL || PAGED.has(kind) ? MANY : 3;
    for (let number = 1; number <= (sample.once === true ? 1 : many); number++) {
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
  });

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
    expect(await client.edges.edgesHttpsRoutes.get({ edgeId: edge.id, id: route.id })).toEqual(updated);

    const at = client.edgeModules.edgeRouteCompressionModule;
    const path = { edgeId: edge.id, id: route.id };
    expect(await at.replace({ ...path, module: { enabled: true } })).toEqual({ enabled: true });
    expect(await at.get(path)).toEqual({ enabled: true });
    await at.delete(path);
    await expect(at.get(path)).rejects.toMatchObject({ statusCode: 404 });
    await client.edges.edgesHttpsRoutes.delete(path);
    await client.edges.edgesHttps.delete(edge.id);
  });

  describe('modules', () => {
    let ids: Record<string, string>;
    beforeAll(async () => {
      const authority = await SAMPLES['certificate_authority']!.create(instance, 1);
      const { id: https } = await client.edges.edgesHttps.create({ hostports: ['modules.test:443'] });
      const match = { matchType: 'path_prefix', match: '/' };
      ids = {
        authority: (await client.certificateAuthorities.create(camel(authority))).id,
        policy: (await client.ipPolicies.create({})).id,
        backend: (await client.backends.staticBackends.create({ address: '127.0.0.1:9' })).id,
        https,
        route: (await client.edges.edgesHttpsRoutes.create({ edgeId: https, ...match })).id,
        tls: (await client.edges.edgesTls.create({})).id,
        tcp: (await client.edges.edgesTcp.create({})).id,
      };
    });

    it.each(Object.entries(MODULES))('%s: replace, get, delete', async (name, sample) => {
      const at = client.edgeModules[name];
      const family = /^(https|tls|tcp)Edge/.exec(name)?.[1];
      const path = family === undefined ? { edgeId: ids['https'], id: ids['route'] } : { id: ids[family] };
      const module = typeof sample === 'function' ? sample(ids) : sample;
      const replaced = await at.replace({ ...path, module });
      const got = await at.get(family === undefined ? path : ids[family]);
      expect(got).toMatchObject({ ...replaced, enabled: true });
      await at.delete(family === undefined ? path : ids[family]);
      await expect(at.get(family === undefined ? path : ids[family])).rejects.toMatchObject({
        statusCode: 404,
      });
    });
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

  it('agents and their commands', async () => {
    const { token } = await client.credentials.create({});
    const listening = await instance.management.edge.listen({
      agents: { port: 0, certificateFor: async () => selfIssued() },
    });
    const socket = connect({ port: listening.agentsPort!, host: '127.0.0.1', rejectUnauthorized: false });
    await arrival(socket, 'secureConnect');
    // Every command is accepted.
    const agent = agentOver(socket, (stream) => void stream.once('data', () => stream.write('{}')));
    const Extra = {
      AuthToken: token,
      RestartUnsupportedError: '',
      StopUnsupportedError: '',
      UpdateUnsupportedError: '',
    };
    await agent.call(CALL.auth, JSON.stringify({ Version: ['3'], ClientId: '', Extra }));
    const opts = { Hostname: 'sdk.localhost' };
    await agent.call(
      CALL.bind,
      JSON.stringify({ Id: '', Proto: 'https', Opts: opts, Extra: { Token: token } }),
    );
    const [session] = await client.tunnelSessions.list();
    expect(await client.tunnelSessions.get(session.id)).toEqual(session);
    const [tunnel] = await client.tunnels.list();
    expect(await client.tunnels.get(tunnel.id)).toMatchObject({ tunnelSession: { id: session.id } });
    const [endpoint] = await client.endpoints.list();
    expect(await client.endpoints.get(endpoint.id)).toMatchObject({ host: 'sdk.localhost' });
    await client.tunnelSessions.restart(session.id);
    await client.tunnelSessions.stop(session.id);
    await client.tunnelSessions.update({ id: session.id });
    await expect(client.tunnelSessions.restart('ts_1')).rejects.toMatchObject({ statusCode: 404 });
    await listening.close(0);
  });

  it('users and sessions of applications', async () => {
    await gate(instance);
    await logIn(instance.management.edge);
    const [session] = await client.applicationSessions.list();
    expect(await client.applicationSessions.get(session.id)).toEqual(session);
    const [user] = await client.applicationUsers.list();
    expect(await client.applicationUsers.get(user.id)).toMatchObject({ providerUserId: 'alice' });
    await client.applicationSessions.delete(session.id);
    expect(await client.applicationSessions.list()).toEqual([]);
    await client.applicationUsers.delete(user.id);
    expect(await client.applicationUsers.list()).toEqual([]);
  });

  it('abuse reports, and certificates of domains', async () => {
    const report = await client.abuseReports.create({ urls: ['https://bad.test/'] });
    expect(await client.abuseReports.get(report.id)).toMatchObject({ hostnames: [{ hostname: 'bad.test' }] });
    const certificate = await client.tlsCertificates.create(
      camel(await SAMPLES['tls_certificate']!.create(instance, 1)),
    );
    const domain = await client.reservedDomains.create({
      domain: 'sdk-domain.test',
      certificateId: certificate.id,
    });
    await client.reservedDomains.deleteCertificate(domain.id);
    const policy = { certificateManagementPolicy: { authority: 'letsencrypt', privateKeyType: 'ecdsa' } };
    await client.reservedDomains.update({ id: domain.id, ...policy });
    await client.reservedDomains.deleteCertificateManagementPolicy(domain.id);
    expect(await client.reservedDomains.get(domain.id)).toMatchObject({
      certificate: null,
      certificateManagementPolicy: null,
    });
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

  it('every method has succeeded', () => {
    expect(METHODS).toHaveLength(213);
    const table = METHODS.map((name) => `${succeeded.has(name) ? 'ok ' : 'no '} ${name}`);
    if (IS_FULL) process.stdout.write(`${table.join('\n')}\n`);
    process.stdout.write(`${succeeded.size} of ${METHODS.length} methods of the SDK\n`);
    expect(table.filter((line) => line.startsWith('no'))).toEqual([]);
  });
});
