import { X509Certificate, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localIssuer } from '../../src/cli/local_authority.ts';
import { folderWith } from '../folder.ts';
import { signingRequest } from './certificates.ts';
import { type Instance, startInstance } from './instance.ts';

/** Lists below an object, lists by property, and what Kubernetes operators are given. */

const POLICY = '{"on_http_request":[{"actions":[{"type":"deny"}]}]}';
let instance: Instance;

beforeAll(async () => {
  instance = await startInstance({ issuer: localIssuer(folderWith()) });
});
afterAll(() => instance.close());

const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
const get = async (path: string) => (await instance.call('GET', path)).body;

it('the secrets of a vault are listed by page and filter', async () => {
  const [one, two] = [
    await instance.make('/vaults', { name: 'one' }),
    await instance.make('/vaults', { name: 'two' }),
  ];
  const made: string[] = [];
  for (const name of ['a', 'b', 'c'])
    made.unshift((await instance.make('/vault_secrets', { name, vault_id: one.id, value: 'x' })).id);
  await instance.make('/vault_secrets', { name: 'd', vault_id: two.id, value: 'x' });
  const at = `/vaults/${one.id}/secrets`;
  const first = await get(`${at}?limit=2`);
  expect([ids(first.secrets), first.uri]).toEqual([made.slice(0, 2), instance.url + at]);
  const second = await get(first.next_page_uri.slice(instance.url.length));
  expect([ids(second.secrets), second.next_page_uri]).toEqual([made.slice(2), null]);
  const filtered = await get(`${at}?filter=${encodeURIComponent('obj.name == "b"')}`);
  expect(ids(filtered.secrets)).toEqual([made[1]]);
  expect((await instance.call('GET', `/vaults/vault_0/secrets`)).status).toBe(404);
});

it('a secret names its vault by id or name', async () => {
  const vault = await instance.make('/vaults', { name: 'named' });
  const secret = await instance.make('/vault_secrets', { name: 'a', vault_name: 'named', value: 'x' });
  expect(secret).toMatchObject({ vault_name: 'named', vault: { id: vault.id } });
  await instance.call('PATCH', `/vaults/${vault.id}`, { name: 'renamed' });
  expect((await get(`/vault_secrets/${secret.id}`)).vault_name).toBe('renamed');
  for (const body of [{ vault_name: 'none' }, {}, { vault_name: 'one', vault_id: secret.vault.id }]) {
    const refused = await instance.call('POST', '/vault_secrets', { name: 'b', value: 'x', ...body });
    expect([body, refused.status]).toEqual([body, 400]);
  }
});

it('endpoints are chosen by id and URL, on every page', async () => {
  const made = [];
  for (const name of ['a', 'b', 'c'])
    made.push(
      await instance.make('/endpoints', {
        type: 'cloud',
        url: `https://${name}.chosen.test`,
        traffic_policy: POLICY,
      }),
    );
  const [a, b, c] = made;
  expect(ids((await get(`/endpoints?id=${a.id}&id=${c.id}`)).endpoints)).toEqual([c.id, a.id]);
  expect(ids((await get(`/endpoints?urls=${encodeURIComponent(b.url)}`)).endpoints)).toEqual([b.id]);
  expect((await get(`/endpoints?ids=${a.id}&url=${encodeURIComponent(b.url)}`)).endpoints).toEqual([]);
  const first = await get(`/endpoints?ids=${a.id}&ids=${c.id}&limit=1`);
  expect(ids(first.endpoints)).toEqual([c.id]);
  const second = await get(first.next_page_uri.slice(instance.url.length));
  expect([ids(second.endpoints), second.next_page_uri]).toEqual([[a.id], null]);
});

describe('Kubernetes operators', () => {
  const features = { enabled_features: ['bindings'] };

  it('are given a certificate for their key, and keep what an update omits', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const made = await instance.make('/kubernetes_operators', {
      ...features,
      deployment: { name: 'operator', namespace: 'default', version: '1', cluster_name: 'c' },
      binding: { csr: signingRequest(publicKey, privateKey), endpoint_selectors: ['true'] },
    });
    expect(made.binding.cert.cert).toContain('BEGIN CERTIFICATE');
    const certificate = new X509Certificate(made.binding.cert.cert);
    expect(certificate.publicKey.equals(publicKey)).toBe(true);
    expect(certificate.subject).toBe(`CN=${made.id}`);
    expect(JSON.stringify(made)).not.toContain('REQUEST');
    const at = `/kubernetes_operators/${made.id}`;
    const update = { deployment: { version: '2' }, binding: { ingress_endpoint: 'in.test:443' } };
    expect((await instance.call('PATCH', at, update)).body).toMatchObject({
      deployment: { name: 'operator', namespace: 'default', version: '2', cluster_name: 'c' },
      binding: { ...made.binding, ingress_endpoint: 'in.test:443' },
    });
    const without = await instance.call('PATCH', at, { enabled_features: [] });
    expect(without.body.binding).toBeNull();
  });

  it.each([
    [{ binding: { endpoint_selectors: ['true'] } }, '/binding'],
    [{ ...features, binding: { endpoint_selectors: ['true', 'obj.'] } }, '/binding/endpoint_selectors/1'],
    [{ ...features, binding: { csr: 'x' } }, '/binding/csr'],
    [{ enabled_features: ['x'] }, '/enabled_features/0'],
  ])('are refused: %j', async (body, pointer) => {
    const { status, body: answer } = await instance.call('POST', '/kubernetes_operators', body);
    expect([status, answer.details.pointer]).toEqual([400, pointer]);
  });

  it('are not given a certificate for a request that was signed with another key', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const { privateKey } = generateKeyPairSync('ed25519');
    const { body } = await instance.call('POST', '/kubernetes_operators', {
      ...features,
      binding: { csr: signingRequest(publicKey, privateKey) },
    });
    expect(body.details.pointer).toBe('/binding/csr');
  });
});

it('reports of abuse name hosts, and stay pending', async () => {
  const made = await instance.make('/abuse_reports', {
    urls: ['https://Bad.test/x', 'http://bad.test:80/y', 'http://worse.test'],
  });
  expect(made).toMatchObject({
    status: 'PENDING',
    hostnames: [
      { hostname: 'bad.test', status: 'PENDING' },
      { hostname: 'worse.test', status: 'PENDING' },
    ],
  });
  expect((await get(`/abuse_reports/${made.id}`)).urls).toHaveLength(3);
  for (const urls of [[], ['x'], ['ftp://a.test']])
    expect((await instance.call('POST', '/abuse_reports', { urls })).status).toBe(400);
});

it('keys of the AI gateway show their token once', async () => {
  const { id } = await instance.make('/endpoints', {
    type: 'cloud',
    url: 'https://ai.test',
    traffic_policy: POLICY,
  });
  const made = await instance.make('/ai_gateway_api_keys', { endpoint_id: id });
  expect(made.endpoint).toEqual({ id, uri: `${instance.url}/endpoints/${id}` });
  const again = await get(`/ai_gateway_api_keys/${made.id}`);
  expect([again.token, again.display_name]).toEqual([
    null,
    `${made.token.slice(0, 4)}…${made.token.slice(-4)}`,
  ]);
  // The API does not accept it.
  const denied = await instance.call('GET', '/api_keys', undefined, {
    authorization: `Bearer ${made.token}`,
  });
  expect(denied.status).toBe(403);
  const missing = { endpoint_id: `ep_${'0'.repeat(27)}` };
  expect((await instance.call('POST', '/ai_gateway_api_keys', missing)).status).toBe(400);
});
