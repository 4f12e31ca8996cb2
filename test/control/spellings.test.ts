import { Ngrok as Client } from '@ngrok/ngrok-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IDP_METADATA } from '../auth/saml/idp_metadata.ts';
import { type Instance, startInstance } from './instance.ts';

/** What clients send in another spelling: empty texts for what is not set, and addresses in upper case. */

let instance: Instance;
let routes: string;
let edge: string;
let count = 0;
beforeAll(async () => {
  instance = await startInstance({ service: 'ngrok', emptyAsJson: true });
  edge = (await instance.make('/edges/https', {})).id;
  routes = `/edges/https/${edge}/routes`;
});
afterAll(() => instance.close());

const withModule = (name: string, module: object) =>
  instance.call('POST', routes, { match_type: 'path_prefix', match: `/m${++count}`, [name]: module });
const isRefused = ({ status, body }: Awaited<ReturnType<Instance['call']>>) => [
  status,
  body.error_code,
  body.details?.pointer,
];
const DENY = '{"on_http_request":[{"actions":[{"type":"deny"}]}]}';

describe('an empty text', () => {
  it('for a name id format, as the published client requires it, means the default', async () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- modules of the client have more members than its types
    const client: any = new Client({ apiToken: instance.key, baseUrl: instance.url });
    const { body } = await withModule('compression', {});
    const module = {
      optionsPassthrough: false,
      cookiePrefix: '',
      inactivityTimeout: 0,
      maximumDuration: 0,
      idpMetadata: IDP_METADATA,
      forceAuthn: false,
      authorizedGroups: [],
      nameidFormat: '',
    };
    const given = { edgeId: edge, id: body.id, module };
    const answer = await client.edgeModules.edgeRouteSamlModule.replace(given);
    expect(answer.nameidFormat).toBe('urn:oasis:names:tc:SAML:2.0:nameid-format:persistent');
  });

  it('for the client of an OAuth provider means the app of the service', async () => {
    const app = { client_id: '', client_secret: '', scopes: [], email_addresses: [], email_domains: [] };
    const { body } = await withModule('oauth', { cookie_prefix: '', provider: { google: app } });
    expect(body.oauth.provider.google).toEqual({ email_addresses: [], email_domains: [], scopes: [] });
  });

  it('for the secret of a webhook means none', async () => {
    const { body } = await withModule('webhook_verification', { provider: 'sns', secret: '' });
    expect(body.webhook_verification).toEqual({ enabled: true, provider: 'sns' });
    const refused = await withModule('webhook_verification', { provider: 'github', secret: '' });
    expect(isRefused(refused)).toEqual([400, 'ERR_NGROK_7027', '/webhook_verification']);
  });

  it.each<[string, object, object]>([
    [
      '/reserved_domains',
      { domain: 'empty.test', region: '', certificate_id: '' },
      { domain: 'empty.test', certificate: null, certificate_management_policy: null },
    ],
    [
      '/agent_ingresses',
      { domain: 'in.empty.test', certificate_management_policy: { authority: '', private_key_type: '' } },
      { certificate_management_policy: expect.objectContaining({ authority: 'letsencrypt' }) },
    ],
    [
      '/edges/tls',
      { tls_termination: { min_version: '', terminate_at: '' } },
      { tls_termination: { enabled: true, min_version: '1.2', terminate_at: 'edge' } },
    ],
  ])('to %s means the default: %j', async (path, body, shown) => {
    const { status, body: made } = await instance.call('POST', path, body);
    expect([status, made]).toEqual([201, expect.objectContaining(shown)]);
  });

  it('in an update changes nothing of what has to have a text', async () => {
    const { body: route } = await withModule('compression', {});
    // As the published Python client sends it when only the metadata is given.
    const sent = { match_type: '', match: '', description: '', metadata: 'm', backend: null, oauth: null };
    const { body } = await instance.call('PATCH', `${routes}/${route.id}`, sent);
    expect(body).toEqual({ ...route, metadata: 'm' });
    const backend = await instance.make('/backends/static', { address: 'localhost:3000' });
    const at = `/backends/static/${backend.id}`;
    const { body: kept } = await instance.call('PATCH', at, { address: '', tls: null, metadata: 'm' });
    expect(kept).toMatchObject({ address: 'localhost:3000', metadata: 'm' });
  });

  it('where a text is required is missing', async () => {
    const route = { match_type: 'path_prefix', match: '' };
    expect(isRefused(await instance.call('POST', routes, route))).toEqual([400, 'ERR_NGROK_7123', '/match']);
    const backend = await instance.call('POST', '/backends/static', { address: '', tls: null });
    expect(isRefused(backend)).toEqual([400, 'ERR_NGROK_6505', '/address']);
  });
});

describe('a duration of 0', () => {
  it.each([
    ['tripped_duration', 7015],
    ['rolling_window', 7016],
    ['num_buckets', 7018],
  ])('is refused for %s of a circuit breaker', async (name, number) => {
    const refused = await withModule('circuit_breaker', { [name]: 0 });
    expect(isRefused(refused)).toEqual([400, `ERR_NGROK_${number}`, `/circuit_breaker/${name}`]);
  });

  it('means no limit for sessions', async () => {
    const times = { inactivity_timeout: 0, maximum_duration: 0, auth_check_interval: 0 };
    const { body } = await withModule('oauth', { ...times, provider: { google: {} } });
    expect(body.oauth).toMatchObject(times);
  });
});

describe('upper case', () => {
  it('in hosts is read as lower case, so that no name is given twice', async () => {
    const first = await instance.make('/edges/https', { hostports: ['*.SHOP.Test:443', 'Shop.TEST:443'] });
    expect(first.hostports).toEqual(['*.shop.test:443', 'shop.test:443']);
    const taken = await instance.call('POST', '/edges/https', { hostports: ['shop.Test:443'] });
    expect(isRefused(taken)).toEqual([409, 'ERR_NGROK_7122', '/hostports/0']);
    expect((await instance.make('/reserved_domains', { domain: 'SHOP.Test' })).domain).toBe('shop.test');
    const again = await instance.call('POST', '/reserved_domains', { domain: 'shop.tesT' });
    expect(isRefused(again)).toEqual([409, 'ERR_NGROK_413', '/domain']);
    expect((await instance.make('/agent_ingresses', { domain: 'In.TEST' })).domain).toBe('in.test');
    const endpoint = { url: 'HTTPS://Point.Test', type: 'cloud', traffic_policy: DENY };
    expect((await instance.make('/endpoints', endpoint)).host).toBe('point.test');
  });

  it('in addresses is read as lower case, and each range has one form', async () => {
    const { id } = await instance.make('/ip_policies', {});
    const rule = (cidr: string) =>
      instance.call('POST', '/ip_policy_rules', { ip_policy_id: id, cidr, action: 'allow' });
    expect((await rule('2001:DB8::/32')).body.cidr).toBe('2001:db8::/32');
    expect(isRefused(await rule('2001:0Db8:0::/32'))).toEqual([409, 'ERR_NGROK_1408', '/cidr']);
    expect((await rule('::FFFF:192.0.2.0/120')).body.cidr).toBe('192.0.2.0/24');
    expect(isRefused(await rule('192.0.2.0/24'))).toEqual([409, 'ERR_NGROK_1408', '/cidr']);
    expect(isRefused(await rule('2001:DB8::1/32'))).toEqual([400, 'ERR_NGROK_1409', '/cidr']);
  });

  it('in e-mail addresses and their domains is refused with a sentence', async () => {
    const cases = [
      [
        'email_addresses',
        'Ann@Example.test',
        7067,
        "an e-mail address in lower case such as 'ann@example.test'",
      ],
      ['email_domains', 'Example.test', 7068, "a domain in lower case such as 'example.test'"],
    ] as const;
    for (const [list, text, number, form] of cases) {
      const refused = await withModule('oauth', { provider: { google: { [list]: ['a@b.test', text] } } });
      const place = refused.body.details.pointer.replace(/\d$/, 'n');
      expect([refused.status, refused.body.error_code, place]).toEqual([
        400,
        `ERR_NGROK_${number}`,
        `/oauth/provider/google/${list}/n`,
      ]);
      expect(refused.body.msg).toContain(`has to be ${form}.`);
    }
  });

  it('in a callback is taken', async () => {
    const target = { debug: { log: false, callback_url: 'HTTPS://192.0.2.1/Path' } };
    expect((await instance.call('POST', '/event_destinations', { format: 'json', target })).status).toBe(201);
  });
});
