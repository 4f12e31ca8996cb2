import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/control/resources/table.ts';
import { MODULE_FACTS } from '../../src/filters/table.ts';
import { IDP_METADATA } from '../auth/saml/idp_metadata.ts';
import { someAuthority } from './certificates.ts';
import { type Instance, startInstance } from './instance.ts';

/** What the specification says in its tables and rules, held against the answers of the server. */

let instance: Instance;
let edge: string;
let backend: string;
let policy: string;
let authority: string;

beforeAll(async () => {
  instance = await startInstance();
  edge = (await instance.make('/edges/https', { hostports: ['spec.test:443'] })).id;
  backend = (await instance.make('/backends/static', { address: 'localhost:1' })).id;
  policy = (await instance.make('/ip_policies', {})).id;
  authority = (await instance.make('/certificate_authorities', { ca_pem: someAuthority().pem })).id;
});
afterAll(() => instance.close());

let count = 0;
const MODULES_OF_ROUTES = [...MODULE_FACTS.values()].filter(({ place }) => place === 'route').length;

const route = async (modules: object = {}) => {
  const body = { match_type: 'path_prefix', match: `/spec${++count}`, ...modules };
  return instance.call('POST', `/edges/https/${edge}/routes`, body);
};

/** Keys in alphabetical order, on every level. */
function areSorted(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(areSorted);
  if (typeof value !== 'object' || value === null) return true;
  const keys = Object.keys(value);
  return keys.join() === keys.toSorted().join() && Object.values(value).every(areSorted);
}

describe('kinds', () => {
  it.each([
    ['api_key', 'ak', '/api_keys', 'keys'],
    ['certificate_authority', 'ca', '/certificate_authorities', 'certificate_authorities'],
    ['ip_policy', 'ipp', '/ip_policies', 'ip_policies'],
    ['ip_policy_rule', 'ipr', '/ip_policy_rules', 'ip_policy_rules'],
    ['weighted_backend', 'bkdwd', '/backends/weighted', 'backends'],
    ['failover_backend', 'bkdfo', '/backends/failover', 'backends'],
    ['http_response_backend', 'bkdhr', '/backends/http_response', 'backends'],
    ['static_backend', 'bkdsc', '/backends/static', 'backends'],
    ['tunnel_group_backend', 'bkdtg', '/backends/tunnel_group', 'backends'],
    ['https_edge', 'edghts', '/edges/https', 'https_edges'],
    ['https_edge_route', 'edghtsrt', '/edges/https/{edge_id}/routes', null],
    ['tcp_edge', 'edgtcp', '/edges/tcp', 'tcp_edges'],
    ['tls_edge', 'edgtls', '/edges/tls', 'tls_edges'],
    ['endpoint', 'ep', '/endpoints', 'endpoints'],
    ['event_subscription', 'esb', '/event_subscriptions', 'event_subscriptions'],
    ['event_destination', 'ed', '/event_destinations', 'event_destinations'],
    ['tunnel_credential', 'cr', '/credentials', 'credentials'],
    ['domain', 'rd', '/reserved_domains', 'reserved_domains'],
    ['tcp_address', 'ra', '/reserved_addrs', 'reserved_addrs'],
    ['tls_certificate', 'cert', '/tls_certificates', 'tls_certificates'],
    ['ip_restriction', 'ipx', '/ip_restrictions', 'ip_restrictions'],
    ['bot_user', 'bot', '/bot_users', 'bot_users'],
    ['vault', 'vault', '/vaults', 'vaults'],
    ['secret', 'secret', '/vault_secrets', 'secrets'],
    ['ssh_public_key', 'sshcr', '/ssh_credentials', 'ssh_credentials'],
    ['ssh_certificate_authority', 'sshca', '/ssh_certificate_authorities', 'ssh_certificate_authorities'],
    ['ssh_host_certificate', 'shcrt', '/ssh_host_certificates', 'ssh_host_certificates'],
    ['ssh_user_certificate', 'sucrt', '/ssh_user_certificates', 'ssh_user_certificates'],
  ])('%s', (kind, prefix, path, listKey) => {
    const found = RESOURCES.find((each) => each.kind === kind)!;
    expect([found.prefix, found.path]).toEqual([prefix, path]);
    expect(found.operations.includes('list') ? found.listKey : null).toBe(listKey);
  });

  it('are complete', () => expect(RESOURCES).toHaveLength(33));
});

describe('modules of a route: request, response, defaults', () => {
  const session = { inactivity_timeout: 0, maximum_duration: 0, options_passthrough: false };
  const app = { client_id: 'a', client_secret: 'b' };
  const lists = { email_addresses: [], email_domains: [], scopes: [] };
  const nobody = { amazon: null, facebook: null, github: null, gitlab: null, linkedin: null };
  const shown = (kind: string, id: string) => ({ id, uri: `${instance.url}/${kind}/${id}` });

  it.each<[string, () => object, () => object]>([
    ['backend', () => ({ backend_id: backend }), () => ({ backend: shown('backends/static', backend) })],
    [
      'ip_restriction',
      () => ({ ip_policy_ids: [policy] }),
      () => ({ ip_policies: [shown('ip_policies', policy)] }),
    ],
    [
      'circuit_breaker',
      () => ({ num_buckets: 128, error_threshold_percentage: 1 }),
      () => ({
        error_threshold_percentage: 1,
        num_buckets: 128,
        rolling_window: 10,
        tripped_duration: 10,
        volume_threshold: 20,
      }),
    ],
    ['compression', () => ({}), () => ({})],
    ['request_headers', () => ({ add: { 'X-A': 'b' } }), () => ({ add: { 'X-A': 'b' }, remove: [] })],
    ['response_headers', () => ({ remove: ['X-A'] }), () => ({ add: {}, remove: ['X-A'] })],
    [
      'webhook_verification',
      () => ({ provider: 'GitHub', secret: 's' }),
      () => ({ provider: 'GitHub', secret: 's' }),
    ],
    [
      'oauth',
      () => ({ provider: { google: { ...app, email_domains: ['a.test'] } } }),
      () => ({
        ...session,
        auth_check_interval: 0,
        cookie_prefix: 'service.',
        provider: {
          ...nobody,
          google: { ...app, ...lists, email_domains: ['a.test'] },
          microsoft: null,
          twitch: null,
        },
      }),
    ],
    [
      'oidc',
      () => ({ ...app, issuer: 'https://login.test' }),
      () => ({ ...app, ...session, cookie_prefix: '', issuer: 'https://login.test', scopes: [] }),
    ],
    [
      'saml',
      () => ({ idp_metadata: IDP_METADATA }),
      () => ({
        ...session,
        allow_idp_initiated: false,
        assertion_consumer_service_url: expect.stringMatching(/^https:\/\/.*\/acs$/),
        authorized_groups: [],
        cookie_prefix: '',
        entity_id: expect.stringMatching(/^https:/),
        force_authn: false,
        idp_metadata: IDP_METADATA,
        idp_metadata_url: '',
        metadata_url: expect.stringMatching(/^https:/),
        nameid_format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
        request_signing_certificate_pem: expect.stringContaining('BEGIN CERTIFICATE'),
        single_logout_url: expect.stringMatching(/^https:.*\/slo$/),
      }),
    ],
    ['websocket_tcp_converter', () => ({}), () => ({})],
    ['user_agent_filter', () => ({ deny: ['bot'] }), () => ({ allow: [], deny: ['bot'] })],
    [
      'traffic_policy',
      () => ({ value: '{"on_http_request":[]}' }),
      () => ({ value: '{"on_http_request":[]}' }),
    ],
  ])('%s', async (name, request, answer) => {
    const made = await route({ [name]: request() });
    expect(made.status).toBe(201);
    const at = `/edges/https/${edge}/routes/${made.body.id}`;
    const expected = { enabled: true, ...answer() };
    expect(made.body[name]).toEqual(expected);
    const others = Object.keys(made.body).filter((key) => key !== name && made.body[key] === null);
    // The other modules, and `policy`, which is always null.
    expect(others.length).toBe(MODULES_OF_ROUTES);
    expect((await instance.call('GET', `${at}/${name}`)).body).toEqual(expected);
    for (const body of [
      request(),
      { module: request() },
      { edge_id: edge, id: made.body.id, module: request() },
    ]) {
      const replaced = await instance.call('PUT', `${at}/${name}`, body);
      expect([replaced.status, replaced.body, areSorted(replaced.body)]).toEqual([200, expected, true]);
    }
    const off = await instance.call('PUT', `${at}/${name}`, { ...request(), enabled: false });
    expect(off.body.enabled).toBe(false);
    const deleted = await instance.call('DELETE', `${at}/${name}`);
    expect([deleted.status, deleted.body]).toEqual([204, null]);
    const after = await instance.call('GET', at);
    expect([after.body[name], areSorted(after.body)]).toEqual([null, true]);
    await instance.call('DELETE', at);
  });
});

describe('modules of edges', () => {
  const ref = (kind: string, id: string) => ({ id, uri: `${instance.url}/${kind}/${id}` });
  it.each<[string, string, () => object, () => object]>([
    [
      'https',
      'mutual_tls',
      () => ({ certificate_authority_ids: [authority] }),
      () => ({ certificate_authorities: [ref('certificate_authorities', authority)] }),
    ],
    [
      'https',
      'tls_termination',
      () => ({ min_version: '1.3' }),
      () => ({ min_version: '1.3', terminate_at: 'edge' }),
    ],
    [
      'tls',
      'mutual_tls',
      () => ({ certificate_authority_ids: [authority] }),
      () => ({ certificate_authorities: [ref('certificate_authorities', authority)] }),
    ],
    [
      'tls',
      'tls_termination',
      () => ({ terminate_at: 'upstream' }),
      () => ({ min_version: '1.2', terminate_at: 'upstream' }),
    ],
    ['tls', 'backend', () => ({ backend_id: backend }), () => ({ backend: ref('backends/static', backend) })],
    [
      'tls',
      'ip_restriction',
      () => ({ ip_policy_ids: [policy] }),
      () => ({ ip_policies: [ref('ip_policies', policy)] }),
    ],
    [
      'tls',
      'traffic_policy',
      () => ({ value: '{"on_tcp_connect":[]}' }),
      () => ({ value: '{"on_tcp_connect":[]}' }),
    ],
    ['tcp', 'backend', () => ({ backend_id: backend }), () => ({ backend: ref('backends/static', backend) })],
    [
      'tcp',
      'ip_restriction',
      () => ({ ip_policy_ids: [policy] }),
      () => ({ ip_policies: [ref('ip_policies', policy)] }),
    ],
    [
      'tcp',
      'traffic_policy',
      () => ({ value: '{"on_tcp_connect":[]}' }),
      () => ({ value: '{"on_tcp_connect":[]}' }),
    ],
  ])('%s %s', async (family, name, request, answer) => {
    const made = await instance.make(`/edges/${family}`, {});
    expect([made.hostports, made[name]]).toEqual([null, null]);
    const at = `/edges/${family}/${made.id}/${name}`;
    for (const body of [request(), { id: made.id, module: request() }]) {
      const replaced = await instance.call('PUT', at, body);
      expect([replaced.status, replaced.body]).toEqual([200, { enabled: true, ...answer() }]);
    }
    expect((await instance.call('GET', at)).body).toEqual({ enabled: true, ...answer() });
    expect((await instance.call('DELETE', at)).status).toBe(204);
    await instance.call('DELETE', `/edges/${family}/${made.id}`);
  });
});

it('the response to a creation has its keys in alphabetical order, too', async () => {
  const target = { debug: { log: true, callback_url: 'https://203.0.113.9/' } };
  expect(areSorted(await instance.make('/event_destinations', { format: 'json', target }))).toBe(true);
});

describe('limits', () => {
  const oidc = { issuer: 'https://login.test', client_id: 'a', client_secret: 'b' };
  const oauth = { provider: { github: {} } };
  const most = 4_294_967_295;
  it.each<[string, object, string, number[], unknown[], number]>([
    ['circuit_breaker', {}, 'tripped_duration', [1, most], [0, -1, most + 1, 1.5, '10'], 7015],
    ['circuit_breaker', {}, 'rolling_window', [1, most], [0, -1, most + 1], 7016],
    ['circuit_breaker', {}, 'volume_threshold', [0, most], [-1, most + 1], 215],
    ['circuit_breaker', {}, 'num_buckets', [1, 128], [0, 129], 7018],
    ['circuit_breaker', {}, 'error_threshold_percentage', [0, 0.5, 1], [-0.01, 1.01, 50], 7011],
    ['oidc', oidc, 'maximum_duration', [0, most], [-1, most + 1], 215],
    ['oauth', oauth, 'auth_check_interval', [0, most], [-1, most + 1], 215],
  ])('%s %j %s', async (name, rest, field, taken, refused, number) => {
    for (const value of taken) {
      const answer = await route({ [name]: { ...rest, [field]: value } });
      expect([value, answer.status, answer.body[name]?.[field]]).toEqual([value, 201, value]);
      await instance.call('DELETE', `/edges/https/${edge}/routes/${answer.body.id}`);
    }
    for (const value of refused) {
      const answer = await route({ [name]: { ...rest, [field]: value } });
      expect([value, answer.status, answer.body.error_code, answer.body.details.pointer]).toEqual([
        value,
        400,
        `ERR_SERVICE_${number}`,
        `/${name}/${field}`,
      ]);
    }
  });

  it('weights are 0 to 10000', async () => {
    const at = '/backends/weighted';
    for (const weight of [0, 1, 9_999, 10_000])
      expect((await instance.call('POST', at, { backends: { [backend]: weight } })).status).toBe(201);
    for (const weight of [-1, 10_001, 1e20, 0.5, '1']) {
      const { status, body } = await instance.call('POST', at, { backends: { [backend]: weight } });
      expect([weight, status, body.error_code]).toEqual([weight, 400, 'ERR_SERVICE_6512']);
    }
  });
});

describe('error messages', () => {
  it.each<[string, string, () => unknown, number, string, string]>([
    ['PUT', 'backend', () => ({}), 215, '/backend_id', "The field 'backend_id' is missing."],
    [
      'PUT',
      'oidc',
      () => ({ module: { issuer: 7 } }),
      215,
      '/module/issuer',
      "The field 'issuer' has to be a string, not a number.",
    ],
    [
      'PUT',
      'circuit_breaker',
      () => ({ num_buckets: 129 }),
      7018,
      '/num_buckets',
      "The field 'num_buckets' has to be at most 128.",
    ],
    [
      'PATCH',
      '',
      () => ({ match_type: 'regex' }),
      7130,
      '/match_type',
      "The field 'match_type' has to be one of exact_path, path_prefix.",
    ],
    [
      'PATCH',
      '',
      () => ({ circuit_breaker: { num_buckets: 1.5 } }),
      7018,
      '/circuit_breaker/num_buckets',
      "The field 'circuit_breaker.num_buckets' has to be a whole number, not 1.5.",
    ],
  ])('%s %s', async (method, module, body, number, pointer, message) => {
    const { id } = (await route()).body;
    const answer = await instance.call(
      method,
      `/edges/https/${edge}/routes/${id}/${module}`.replace(/\/$/, ''),
      body(),
    );
    expect([answer.body.error_code, answer.body.details.pointer, answer.body.msg]).toEqual([
      `ERR_SERVICE_${number}`,
      pointer,
      message,
    ]);
  });

  it('terminate_at of an HTTPS edge has its own error number', async () => {
    const answer = await instance.call('PUT', `/edges/https/${edge}/tls_termination`, {
      terminate_at: 'edge',
    });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'ERR_SERVICE_7109']);
  });

  it.each<[string, () => object, number, string, string]>([
    [
      '/ip_policy_rules',
      () => ({ cidr: '10.0.0.0/8', action: 'allow', ip_policy_id: policy }),
      1408,
      '/cidr',
      "The cidr '10.0.0.0/8' is taken.",
    ],
    [
      '/edges/tcp',
      () => ({ hostports: ['a.test:1', 'taken.test:5432'] }),
      7122,
      '/hostports/1',
      "The hostport 'taken.test:5432' is taken.",
    ],
    [
      '/reserved_domains',
      () => ({ domain: 'taken.test' }),
      413,
      '/domain',
      "The domain 'taken.test' is taken.",
    ],
    ['/vaults', () => ({ name: 'taken.known' }), 215, '/name', "The vault 'taken.known' is taken."],
  ])('%s already exists', async (path, body, number, pointer, message) => {
    const made = { ...body(), ...(path === '/edges/tcp' && { hostports: ['taken.test:5432'] }) };
    await instance.make(path, made);
    const { status, body: answer } = await instance.call('POST', path, body());
    expect([status, answer.error_code, answer.details.pointer, answer.msg]).toEqual([
      409,
      `ERR_SERVICE_${number}`,
      pointer,
      message,
    ]);
  });
});
