import { IDP_METADATA } from '../auth/saml/idp_metadata.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';
import { someAuthority } from './certificates.ts';
import { runs } from '../random.ts';

let instance: Instance;
let edge: { id: string };
let hello: { id: string };
let count = 0;

beforeAll(async () => {
  instance = await startInstance();
  hello = await instance.make('/backends/http_response', { body: 'hello' });
  edge = await instance.make('/edges/https', { hostports: ['shop.test:443'] });
});
afterAll(() => instance.close());

/** Status that the edge gives a request now. */
const status = (path: string, host = 'shop.test') =>
  instance.management.edge.decide({
    method: 'GET',
    url: `https://${host}${path}`,
    headers: [['user-agent', 'x']],
  }).status;

async function route(more: object = {}): Promise<{ id: string; at: string; match: string }> {
  const match = `/r${++count}`;
  const at = `/edges/https/${edge.id}/routes`;
  const body = { match_type: 'path_prefix', match, backend: { backend_id: hello.id }, ...more };
  const { id } = await instance.make(at, body);
  return { id, at: `${at}/${id}`, match };
}

describe('writes take effect on the next request', () => {
  it('routes, modules and their removal', async () => {
    expect(status('/r1')).toBe(404);
    const { at, match } = await route();
    expect(status(match)).toBe(200);
    const policy = await instance.make('/ip_policies', {});
    const restriction = { ip_policy_ids: [policy.id] };
    await instance.call('PUT', `${at}/ip_restriction`, restriction);
    expect(status(match)).toBe(403);
    const rule = { ip_policy_id: policy.id, cidr: '0.0.0.0/0', action: 'allow' };
    await instance.make('/ip_policy_rules', rule);
    expect(status(match)).toBe(200);
    await instance.call('PUT', `${at}/user_agent_filter`, { deny: ['^x$'] });
    expect(status(match)).toBe(403);
    await instance.call('PUT', `${at}/user_agent_filter`, { deny: ['^x$'], enabled: false });
    expect(status(match)).toBe(200);
    const policyText = JSON.stringify({
      on_http_request: [{ actions: [{ type: 'custom-response', config: { status_code: 418 } }] }],
    });
    await instance.call('PUT', `${at}/traffic_policy`, { module: { value: policyText } });
    expect(status(match)).toBe(418);
    await instance.call('DELETE', `${at}/traffic_policy`);
    expect(status(match)).toBe(200);
    await instance.call('DELETE', at);
    expect(status(match)).toBe(404);
  });

  it('hostports, and edges without any', async () => {
    await route({ match: '/' });
    expect(status('/', 'other.test')).toBe(404);
    await instance.call('PATCH', `/edges/https/${edge.id}`, {
      hostports: ['shop.test:443', 'OTHER.test:443'],
    });
    expect(status('/', 'other.test')).toBe(200);
    const bare = await instance.make('/edges/https', {});
    expect(bare).toMatchObject({ hostports: null, routes: [] });
    const at = `/edges/https/${bare.id}/routes`;
    await instance.make(at, { match_type: 'exact_path', match: '/', backend: { backend_id: hello.id } });
    const broken = await instance.call('POST', at, { match_type: 'exact_path', match: 'https://x/' });
    expect(broken.body).toMatchObject({ error_code: 'ERR_SERVICE_7131', details: { pointer: '/match' } });
  });

  it('an edge that requires client certificates closes connections without one', async () => {
    const authority = await instance.make('/certificate_authorities', { ca_pem: someAuthority().pem });
    const closed = await instance.make('/edges/https', { hostports: ['mutual.test:443'] });
    const value = JSON.stringify({
      on_http_request: [{ actions: [{ type: 'custom-response', config: {} }] }],
    });
    const body = { match_type: 'path_prefix', match: '/', traffic_policy: { value } };
    await instance.make(`/edges/https/${closed.id}/routes`, body);
    expect(status('/', 'mutual.test')).toBe(200);
    const module = { certificate_authority_ids: [authority.id] };
    const answer = await instance.call('PUT', `/edges/https/${closed.id}/mutual_tls`, module);
    const uri = `${instance.url}/certificate_authorities/${authority.id}`;
    expect(answer.body).toEqual({ enabled: true, certificate_authorities: [{ id: authority.id, uri }] });
    expect(status('/', 'mutual.test')).toBe(0);
    expect((await instance.call('DELETE', `/certificate_authorities/${authority.id}`)).status).toBe(400);
    await instance.call('DELETE', `/edges/https/${closed.id}/mutual_tls`);
    expect(status('/', 'mutual.test')).toBe(200);
  });

  it('a tunnel group without tunnels responds with 503', async () => {
    const group = await instance.make('/backends/tunnel_group', { labels: { app: 'x' } });
    const { match } = await route({ backend: { backend_id: group.id } });
    expect(status(match)).toBe(503);
  });
});

describe('a write with an invalid configuration changes nothing and reports the place', () => {
  it.each([
    ['user_agent_filter', { deny: ['ok', '('] }, 2090, '/deny/1'],
    ['request_headers', { add: { connection: 'x' } }, 7023, '/add/connection'],
    ['webhook_verification', { provider: 'github' }, 7027, ''],
    ['webhook_verification', { provider: 'sns', secret: 'x' }, 7026, '/secret'],
    ['webhook_verification', { provider: 'nobody' }, 7030, '/provider'],
    ['oauth', { provider: { github: {}, google: {} } }, 7033, '/provider'],
    ['ip_restriction', { ip_policy_ids: [] }, 7025, '/ip_policy_ids'],
    ['circuit_breaker', { error_threshold_percentage: 1.1 }, 7011, '/error_threshold_percentage'],
  ])('%s %j', async (name, module, number, pointer) => {
    const { at, match } = await route();
    const revision = instance.management.edge.runtime.revision();
    for (const [body, prefix] of [
      [module, ''],
      [{ module }, '/module'],
    ] as const) {
      const answer = await instance.call('PUT', `${at}/${name}`, body);
      expect([answer.status, answer.body.error_code]).toEqual([400, `ERR_SERVICE_${number}`]);
      expect(answer.body.details.pointer).toBe(prefix + pointer);
    }
    const { body } = await instance.call('GET', at);
    expect([body[name], status(match)]).toEqual([null, 200]);
    expect(instance.management.edge.runtime.revision()).toBe(revision);
  });

  it('duplicates, and children that are not allowed', async () => {
    const older = await route();
    const { match, at } = await route();
    const again = { match_type: 'path_prefix', match };
    for (const duplicate of [
      await instance.call('POST', `/edges/https/${edge.id}/routes`, again),
      await instance.call('PATCH', older.at, { match }),
      await instance.call('PATCH', at, { match: older.match }),
    ])
      expect(duplicate.body).toMatchObject({
        error_code: 'ERR_SERVICE_7126',
        details: { pointer: '/match' },
      });
    const taken = await instance.call('POST', '/edges/https', { hostports: ['shop.test:443'] });
    expect([taken.status, taken.body.error_code]).toEqual([409, 'ERR_SERVICE_7122']);
    const weighted = await instance.make('/backends/weighted', { backends: { [hello.id]: 1 } });
    const nested = await instance.call('POST', '/backends/weighted', { backends: { [weighted.id]: 1 } });
    expect(nested.body.error_code).toBe('ERR_SERVICE_6524');
    const failover = await instance.make('/backends/failover', { backends: [weighted.id] });
    const deep = await instance.call('PATCH', `/backends/weighted/${weighted.id}`, {
      backends: { [failover.id]: 1 },
    });
    expect([deep.status, deep.body.error_code]).toEqual([400, 'ERR_SERVICE_6524']);
    const kept = await instance.call('GET', `/backends/weighted/${weighted.id}`);
    expect(kept.body.backends).toEqual({ [hello.id]: 1 });
  });

  it('a child that does not exist, a weight out of range', async () => {
    const weights = (backends: object) => instance.call('POST', '/backends/weighted', { backends });
    expect((await weights({ [`bkdhr_${'0'.repeat(27)}`]: 1 })).body.error_code).toBe('ERR_SERVICE_6501');
    for (const weight of [-1, 10_001, 1.5, '5']) {
      expect((await weights({ [hello.id]: weight })).body.error_code).toBe('ERR_SERVICE_6512');
    }
    for (const weight of [0, 10_000]) expect((await weights({ [hello.id]: weight })).status).toBe(201);
  });
});

describe('a restriction of all endpoints', () => {
  const FROM = ['192.0.2.1', '192.0.2.9', '198.51.100.1', '2001:db8::1'];

  it('blocks clients in addition to restrictions of routes', async () => {
    const own = await startInstance();
    const policyOf = async (rules: readonly (readonly [action: string, cidr: string])[]) => {
      const { id } = await own.make('/ip_policies', {});
      for (const [action, cidr] of rules)
        await own.make('/ip_policy_rules', { ip_policy_id: id, action, cidr });
      return id as string;
    };
    const { id: backendId } = await own.make('/backends/http_response', { body: 'x' });
    const { id: edgeId } = await own.make('/edges/https', { hostports: ['own.test:443'] });
    const backend = { backend_id: backendId };
    const routeTo = (match: string, more: object) =>
      own.make(`/edges/https/${edgeId}/routes`, { match_type: 'exact_path', match, backend, ...more });
    await routeTo('/open', {});
    const some = await policyOf([
      ['allow', '192.0.2.0/28'],
      ['deny', '192.0.2.9/32'],
      ['allow', '2001:db8::/32'],
    ]);
    await routeTo('/some', { ip_restriction: { ip_policy_ids: [some] } });
    const statuses = (path: string) =>
      FROM.map(
        (clientIp) =>
          own.management.edge.decide({ method: 'GET', url: `https://own.test${path}` }, { clientIp }).status,
      );

    expect([statuses('/open'), statuses('/some')]).toEqual([
      [200, 200, 200, 200],
      [200, 403, 403, 200],
    ]);
    const all = await policyOf([
      ['allow', '192.0.0.0/8'],
      ['allow', '198.51.100.0/24'],
      ['deny', '198.51.100.1/32'],
    ]);
    const restriction = await own.make('/ip_restrictions', { type: 'endpoints', ip_policy_ids: [all] });
    expect(statuses('/open')).toEqual([200, 200, 200, 200]);
    await own.call('PATCH', `/ip_restrictions/${restriction.id}`, { enforced: true });
    expect([statuses('/open'), statuses('/some')]).toEqual([
      [200, 200, 403, 403],
      [200, 403, 403, 403],
    ]);
    // The same when the store is opened again, with rules that both policies have.
    await own.make('/ip_policy_rules', { ip_policy_id: all, action: 'deny', cidr: '192.0.2.9/32' });
    const again = await own.reopened();
    expect(
      again.edge.decide({ method: 'GET', url: 'https://own.test/some' }, { clientIp: FROM[2]! }).status,
    ).toBe(403);
    expect(
      again.edge.decide({ method: 'GET', url: 'https://own.test/some' }, { clientIp: FROM[0]! }).status,
    ).toBe(200);
    await again.close();
    await own.call('DELETE', `/ip_restrictions/${restriction.id}`);
    expect(statuses('/open')).toEqual([200, 200, 200, 200]);
    await own.close();
  });
});

describe('shapes', () => {
  it('an update of a weighted backend without children empties them', async () => {
    const { id } = await instance.make('/backends/weighted', { backends: { [hello.id]: 1 } });
    const { body } = await instance.call('PATCH', `/backends/weighted/${id}`, { metadata: 'only' });
    expect(body).toMatchObject({ metadata: 'only', backends: {} });
  });

  it('modules are kept by an update that omits them', async () => {
    const { at } = await route({ compression: {}, circuit_breaker: {} });
    const kept = await instance.call('PATCH', at, { metadata: 'x', circuit_breaker: { num_buckets: 3 } });
    expect(kept.body).toMatchObject({ compression: { enabled: true }, circuit_breaker: { num_buckets: 3 } });
  });

  it('OAuth has all providers, SAML its addresses', async () => {
    const { at } = await route({ oauth: { provider: { google: { email_domains: ['a.test'] } } } });
    const { body } = await instance.call('GET', `${at}/oauth`);
    expect(Object.keys(body.provider)).toHaveLength(8);
    expect(body).toMatchObject({
      cookie_prefix: 'service.',
      inactivity_timeout: 0,
      options_passthrough: false,
    });
    expect(body.provider.google).toEqual({ email_addresses: [], email_domains: ['a.test'], scopes: [] });
    expect(body.provider.github).toBeNull();
    expect((await instance.call('PUT', `${at}/oauth`, body)).body).toEqual(body);
    await instance.call('DELETE', `${at}/oauth`);
    const saml = await instance.call('PUT', `${at}/saml`, { idp_metadata: IDP_METADATA });
    const id = at.slice(at.lastIndexOf('/') + 1);
    expect(saml.body).toMatchObject({
      cookie_prefix: '',
      authorized_groups: [],
      entity_id: `https://idp.service.test/saml/${id}`,
      metadata_url: `https://idp.service.test/saml/${id}`,
      nameid_format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    });
  });

  it('a rule has a canonical range, unique in its policy', async () => {
    const policy = await instance.make('/ip_policies', {});
    const rule = (cidr: string) =>
      instance.call('POST', '/ip_policy_rules', { cidr, ip_policy_id: policy.id, action: 'allow' });
    expect((await rule('2001:DB8:0::/32')).body.cidr).toBe('2001:db8::/32');
    expect((await rule('2001:db8::/32')).body).toMatchObject({
      error_code: 'ERR_SERVICE_1408',
      status_code: 409,
    });
    for (const [cidr, number] of [
      ['192.0.2.1', 1413],
      ['192.0.2.1/24', 1409],
      ['192.0.2.0/33', 1406],
      ['x/8', 1406],
    ] as const) {
      expect((await rule(cidr)).body.error_code).toBe(`ERR_SERVICE_${number}`);
    }
  });
});

describe('during traffic', () => {
  const swaps = runs(1_000);

  it(`${swaps} swaps fail no request, and no request sees two configurations`, async () => {
    const listening = await instance.management.edge.listen({});
    await instance.call('PATCH', `/edges/https/${edge.id}`, {
      hostports: ['shop.test:443', '127.0.0.1:443'],
    });
    const { id, match, at } = await route();
    expect(id).toMatch(/^edghtsrt_/);
    const visits = new AbortController();
    let answered = 0;
    const wrong: string[] = [];
    const visit = async () => {
      while (!visits.signal.aborted) {
        const response = await fetch(listening.url + match);
        const text = `${response.status} ${response.headers.get('x-one')} ${response.headers.get('x-two')}`;
        if (!/^200 (\d+) \1$/.test(text) && text !== '200 null null') wrong.push(text);
        await response.text();
        answered++;
      }
    };
    const visitors = Array.from({ length: 4 }, visit);
    for (let number = 0; number < swaps; number++) {
      const headers = { add: { 'x-one': String(number), 'x-two': String(number) } };
      expect((await instance.call('PUT', `${at}/response_headers`, headers)).status).toBe(200);
    }
    visits.abort();
    await Promise.all(visitors);
    await listening.close(0);
    expect(wrong).toEqual([]);
    expect(answered).toBeGreaterThan(swaps / 10);
  });
});
