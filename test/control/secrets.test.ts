import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '../../src/control/backup.ts';
import { openManagement } from '../../src/control/management.ts';
import { newSealingKey } from '../../src/crypto/sealing.ts';
import { someAuthority } from './certificates.ts';
import { type Instance, startInstance } from './instance.ts';

let instance: Instance;
const traces: string[] = [];

beforeAll(async () => {
  instance = await startInstance({
    edge: { onEvent: (event, explain) => traces.push(JSON.stringify([event, explain()])) },
  });
});
afterAll(() => instance.close());

/** Everything in the folder of the store but the key itself. */
function atRest(): string {
  const files = readdirSync(instance.folder).filter((name) => !name.endsWith('.key'));
  return files.map((name) => readFileSync(join(instance.folder, name), 'latin1')).join('\n');
}

async function events(): Promise<string> {
  return JSON.stringify(await instance.management.store.read((view) => view.audit(1_000)));
}

describe('secrets of vaults in policies', () => {
  const body = async (): Promise<string> => {
    const request = new Request('https://vault.test/', { headers: { 'user-agent': 'x' } });
    const { response } = await instance.management.edge.handle(request);
    return response.status === 200 ? response.text() : String(response.status);
  };

  it('apply from the next request on, and are never disclosed', async () => {
    const vault = await instance.make('/vaults', { name: 'team' });
    const edge = await instance.make('/edges/https', { hostports: ['vault.test:443'] });
    const value = JSON.stringify({
      on_http_request: [
        {
          actions: [
            {
              type: 'custom-response',
              config: { status_code: 200, body: "${secrets.get('team', 'greeting')}" },
            },
          ],
        },
      ],
    });
    const route = { match_type: 'path_prefix', match: '/', traffic_policy: { value } };
    await instance.make(`/edges/https/${edge.id}/routes`, route);
    expect(await body()).not.toContain('open-sesame');
    const given = { vault_id: vault.id, name: 'greeting', value: 'open-sesame-1' };
    const secret = await instance.make('/vault_secrets', given);
    expect(JSON.stringify(secret)).not.toContain('sesame');
    expect(await body()).toBe('open-sesame-1');
    await instance.call('PATCH', `/vault_secrets/${secret.id}`, { value: 'open-sesame-2' });
    expect(await body()).toBe('open-sesame-2');
    await instance.call('PATCH', `/vault_secrets/${secret.id}`, { metadata: 'the value stays' });
    expect(await body()).toBe('open-sesame-2');

    expect(traces.join()).not.toContain('sesame');
    expect(await events()).not.toContain('sesame');
    expect(atRest()).toContain('"name":"greeting"');
    expect(atRest()).not.toContain('sesame');
    const again = await instance.reopened();
    const { response } = await again.edge.handle(new Request('https://vault.test/'));
    expect(await response.text()).toBe('open-sesame-2');
    await again.close();

    await instance.call('DELETE', `/vault_secrets/${secret.id}`);
    expect(await body()).not.toContain('sesame');
  });
});

describe('other secrets', () => {
  it('are sealed at rest, absent from events, and returned only as specified', async () => {
    const edge = await instance.make('/edges/https', { hostports: ['modules.test:443'] });
    const modules = {
      oauth: { provider: { google: { client_id: 'id', client_secret: 'hidden-oauth', scopes: ['email'] } } },
      webhook_verification: { provider: 'github', secret: 'hidden-webhook' },
    };
    const route = { match_type: 'path_prefix', match: '/', ...modules };
    const made = await instance.make(`/edges/https/${edge.id}/routes`, route);
    expect(made).toMatchObject(modules);
    const other = { ...route, match: '/oidc', oauth: undefined };
    const oidc = { issuer: 'https://login.test', client_id: 'id', client_secret: 'hidden-oidc' };
    const second = await instance.make(`/edges/https/${edge.id}/routes`, { ...other, oidc });
    expect(second).toMatchObject({ oidc });
    const at = `/edges/https/${edge.id}/routes/${made.id}`;
    expect((await instance.call('GET', `${at}/webhook_verification`)).body).toMatchObject(
      modules.webhook_verification,
    );
    await instance.call('PATCH', at, { metadata: 'x' });
    expect((await instance.call('GET', at)).body).toMatchObject(modules);

    const { pem, key } = someAuthority();
    await instance.make('/tls_certificates', { certificate_pem: pem, private_key_pem: key });
    const debug = { callback_url: 'http://203.0.113.9:9/', signing_secret: `whsec_${'hidden'.repeat(6)}` };
    await instance.make('/event_destinations', { target: { debug } });
    await instance.make('/event_destinations', { target: { datadog: { api_key: 'hidden-datadog' } } });
    const creds = { aws_access_key_id: 'id', aws_secret_access_key: 'hidden-aws' };
    const firehose = { auth: { creds }, delivery_stream_arn: 'arn:aws:firehose:x' };
    await instance.make('/event_destinations', { target: { firehose } });

    const kept = atRest();
    const told = await events();
    expect(kept).toContain('modules.test:443');
    const lineOfKey = key.split('\n')[1]!;
    for (const secret of ['hidden-', 'whsec_hidden', lineOfKey]) {
      expect([secret, kept.includes(secret), told.includes(secret)]).toEqual([secret, false, false]);
    }
  });

  it('do not open with another key', async () => {
    const path = join(instance.folder, 'other_key.db');
    backUp(join(instance.folder, 'store.db'), path, { withKey: false });
    writeFileSync(`${path}.key`, newSealingKey());
    await expect(openManagement({ storePath: path })).rejects.toThrow('sealed with another key');
  });
});
