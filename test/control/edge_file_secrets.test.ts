import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOT_EXPORTED } from '../../src/edge/document/value_places.ts';
import { MODULE_FACTS } from '../../src/filters/table.ts';
import { someAuthority } from './certificates.ts';
import { type Ran, runVerb } from './command_line.ts';
import { type Instance, startInstance } from './instance.ts';

const backend = { backend_id: 'fixed' };
const route = (match: string, module: object) => ({ match_type: 'path_prefix', match, backend, ...module });
const SIGNING = `whsec_${Buffer.from('sesame-standard-webhooks').toString('base64')}`;
const OAUTH = { google: { client_id: 'id', client_secret: 'sesame-oauth', scopes: ['email'] } };
const ROUTES = [
  route('/oauth', { oauth: { provider: OAUTH } }),
  route('/oidc', { oidc: { issuer: 'https://login.test', client_id: 'id', client_secret: 'sesame-oidc' } }),
  route('/hook', { webhook_verification: { provider: 'github', secret: 'sesame-webhook' } }),
  route('/signed', { webhook_verification: { provider: 'standard_webhooks', secret: SIGNING } }),
];
const SECRETS = ['sesame', SIGNING.slice(6)];
const PLACES = [
  '/edges/https/shop/routes/0/oauth/provider/google/client_secret',
  '/edges/https/shop/routes/1/oidc/client_secret',
  '/edges/https/shop/routes/2/webhook_verification/secret',
  '/edges/https/shop/routes/3/webhook_verification/secret',
];

let instance: Instance;
let empty: Instance;
let path: string;
let keyLine: string;
/** Everything that edges and verbs have said. */
const said: string[] = [];

beforeAll(async () => {
  const edge = {
    onEvent: (...[event, explain]: [unknown, () => unknown]) => {
      said.push(JSON.stringify([event, explain()]));
    },
  };
  instance = await startInstance({ edge });
  empty = await startInstance({ edge });
  path = join(instance.folder, 'exported.json');
  const { pem, key } = someAuthority();
  keyLine = key.split('\n')[1]!;
  const document = {
    tls_certificates: { main: { certificate_pem: pem, private_key_pem: key } },
    backends: { fixed: { http_response: { body: 'x' } } },
    edges: { https: { shop: { hostports: ['shop.test:443'], routes: ROUTES } } },
  };
  const { status } = await instance.call('PUT', '/edge_file', document);
  expect(status).toBe(200);
});
afterAll(async () => {
  await instance.close();
  await empty.close();
});

async function cli(of: Instance, ...args: readonly string[]): Promise<Ran> {
  const ran = await runVerb(of, args);
  said.push(ran.out, ran.err);
  return ran;
}
const on = ({ url }: Instance) => ['--url', url];
const stored = async () => JSON.stringify((await instance.call('GET', '/edge_file?secrets=true')).body);

describe('secrets of an edge file', () => {
  it('are placeholders in an export, for which apply keeps the stored ones', async () => {
    const before = await stored();
    const exported = await cli(instance, 'export', '-o', path, ...on(instance));
    expect(exported).toMatchObject({ code: 0, out: '' });
    expect(exported.err).toContain(`left out: 4 secrets, replaced by '${NOT_EXPORTED}'`);
    const text = readFileSync(path, 'utf8');
    expect(text.split(NOT_EXPORTED)).toHaveLength(PLACES.length + 1);
    for (const secret of SECRETS) expect(text).not.toContain(secret);

    for (const options of [['--dry-run'], []]) {
      const applied = await cli(instance, 'apply', path, ...options, ...on(instance));
      expect(applied).toEqual({ code: 0, out: 'nothing to change\n', err: '' });
    }
    expect(await stored()).toBe(before);
  });

  it('stay if another part of their object changes', async () => {
    const { edges, ...document } = JSON.parse(readFileSync(path, 'utf8'));
    const { shop } = edges.https;
    const routes = shop.routes.map((each: object) => ({ ...each, description: 'changed' }));
    const changed = { ...document, edges: { https: { shop: { ...shop, routes } } } };
    const { body } = await instance.call('PUT', '/edge_file', changed);
    expect(body.steps).toHaveLength(routes.length);
    const whole = await stored();
    for (const secret of ['sesame-oauth', 'sesame-oidc', 'sesame-webhook', SIGNING])
      expect(whole).toContain(secret);
  });

  it('that an empty store lacks are refused, each with its place', async () => {
    const refused = await cli(empty, 'apply', path, ...on(empty));
    expect([refused.code, refused.out]).toEqual([3, '']);
    const lines = readFileSync(path, 'utf8').split('\n');
    const placed = Array.from(refused.err.matchAll(/exported\.json:(\d+):\d+ error/g), ([, line]) => {
      return lines[Number(line) - 1]!.trim();
    });
    expect(placed).toHaveLength(PLACES.length + 1);
    expect(placed[0]).toContain('private_key_file');
    for (const line of placed.slice(1)) expect(line).toContain(NOT_EXPORTED);
    for (const place of PLACES) expect(refused.err).toContain(place);

    const { body } = await empty.call('PUT', '/edge_file', JSON.parse(readFileSync(path, 'utf8')));
    expect(body.details.pointers.split(' ')).toEqual(['/tls_certificates/main/private_key_pem', ...PLACES]);
    expect((await empty.call('GET', '/edge_file')).body.document.edges.https).toEqual({});
  });

  it('that belong to another object are not kept', async () => {
    const { document } = (await instance.call('GET', '/edge_file')).body;
    document.edges.https.shop.routes[2].match = '/other';
    const { status, body } = await instance.call('PUT', '/edge_file?dry_run=true', document);
    expect([status, body.details.pointer]).toEqual([400, PLACES[2]]);
  });

  it('are exported when an admin asks, to a file that others cannot read', async () => {
    const whole = join(instance.folder, 'whole.json');
    // Not through `cli`: this output has the secrets.
    const { code, err } = await runVerb(instance, [
      'export',
      '--secrets',
      '--private-keys',
      '-o',
      whole,
      ...on(instance),
    ]);
    expect([code, err]).toEqual([0, '']);
    expect(statSync(whole).mode & 0o77).toBe(0);
    // A file that others can read becomes one that they cannot.
    chmodSync(whole, 0o644);
    await runVerb(instance, ['export', '--secrets', '--private-keys', '-o', whole, ...on(instance)]);
    expect(statSync(whole).mode & 0o77).toBe(0);
    expect(readFileSync(whole, 'utf8')).not.toContain(NOT_EXPORTED);
    expect((await cli(empty, 'apply', whole, ...on(empty))).code).toBe(0);
    const there = (await empty.call('GET', '/edge_file?secrets=true')).body;
    expect(JSON.stringify(there)).toBe(await stored());

    const bot = await instance.make('/bot_users', { name: 'robot' });
    const { token } = await instance.make('/api_keys', { owner_id: bot.id });
    const authorization = { authorization: `Bearer ${token}` };
    const refused = await instance.call('GET', '/edge_file?secrets=true', undefined, authorization);
    expect([refused.status, refused.body.details.parameter]).toEqual([403, 'secrets']);
    const plain = await instance.call('GET', '/edge_file', undefined, authorization);
    expect([plain.status, JSON.stringify(plain.body).includes('sesame')]).toEqual([200, false]);
  });

  it('are needed by check, dev and writes of the API, which refuse placeholders', async () => {
    const yaml = join(instance.folder, 'placeholder.yaml');
    const { document } = (await instance.call('GET', '/edge_file')).body;
    delete document.tls_certificates;
    writeFileSync(yaml, JSON.stringify(document, null, 1));
    for (const verb of [['check'], ['dev', '--port', '0', '--no-tls']]) {
      const { code, out, err } = await cli(instance, ...verb, yaml);
      const text = out + err;
      expect([verb[0], code]).toEqual([verb[0], 3]);
      expect(text.match(/edge\.secret_not_exported/g)).toHaveLength(PLACES.length);
      expect(text).toContain('write the secret here');
      expect(text).toContain('export --secrets');
    }
    const { edges } = (await instance.call('GET', '/edge_file')).body.document;
    const [edge] = (await instance.call('GET', '/edges/https')).body.https_edges;
    expect(edges.https.shop.routes).toHaveLength(4);
    const given = { provider: 'github', secret: NOT_EXPORTED };
    const at = `/edges/https/${edge.id}/routes/${edge.routes[2].id}`;
    const patched = await instance.call('PATCH', at, { webhook_verification: given });
    expect([patched.status, patched.body.details]).toMatchObject([
      400,
      { finding: 'edge.secret_not_exported', pointer: '/webhook_verification/secret' },
    ]);
    const put = await instance.call('PUT', `${at}/webhook_verification`, given);
    expect([put.status, put.body.details.pointer]).toEqual([400, '/secret']);
  });

  it('occur in no output, log, event or audit record', async () => {
    for (const each of ROUTES) {
      const request = new Request(`https://shop.test${each.match}`, { method: 'POST', body: '{}' });
      await instance.management.edge.handle(request);
    }
    const audit = await Promise.all(
      [instance, empty].map(({ management }) => management.store.read((view) => view.audit(1_000))),
    );
    const everything = said.join('\n') + JSON.stringify(audit);
    expect(said.length).toBeGreaterThan(10);
    for (const secret of [...SECRETS, keyLine])
      expect([secret, everything.includes(secret)]).toEqual([secret, false]);
  });

  it('are those that modules declare', () => {
    const declared = Array.from(MODULE_FACTS.values()).flatMap(({ type, secrets = [] }) =>
      secrets.map((place) => type + place),
    );
    const tried = new Set(PLACES.map((place) => place.replace(/^.*routes\/\d\//, '').replace('google', '*')));
    expect(new Set(declared)).toEqual(tried);
  });
});
