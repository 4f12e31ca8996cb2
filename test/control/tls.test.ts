import { createPrivateKey } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openManagement } from '../../src/control/management.ts';
import { keyProblem } from '../../src/edge/certificates.ts';
import { selfSigned } from './certificates.ts';
import { startInstance } from './instance.ts';

it('the API uses TLS if it has a certificate, and its URLs are https', async () => {
  const instance = await startInstance();
  const { pem, key } = selfSigned('localhost');
  const listening = await instance.management.listen({ tls: { cert: pem, key } });
  expect(listening.url).toMatch(/^https:/);
  const headers = { authorization: `Bearer ${instance.key}`, 'service-version': '2' };
  const text = await new Promise<string>((resolve, reject) => {
    request(`${listening.url}/vaults`, { ca: pem, headers }, (response) => {
      let read = '';
      response.setEncoding('utf8').on('data', (part: string) => (read += part));
      response.on('end', () => resolve(read));
    })
      .on('error', reject)
      .end();
  });
  expect(JSON.parse(text)).toEqual({ vaults: [], next_page_uri: null, uri: `${listening.url}/vaults` });
  await listening.close();
  await instance.close();
});

it('a store with a damaged sealing key is refused, and one with its key opens', async () => {
  const instance = await startInstance();
  const storePath = join(instance.folder, 'other.db');
  const first = await openManagement({ storePath });
  await first.close();
  const kept = readFileSync(`${storePath}.key`, 'utf8');
  writeFileSync(`${storePath}.key`, 'short');
  await expect(openManagement({ storePath })).rejects.toThrow('does not contain a sealing key');
  writeFileSync(`${storePath}.key`, kept);
  const again = await openManagement({ storePath });
  expect([typeof first.firstKey, again.firstKey]).toEqual(['string', null]);
  await again.close();
  rmSync(storePath);
  await instance.close();
});

it('an encrypted private key is refused as such, in a request and in a file', async () => {
  const instance = await startInstance();
  const { pem, key } = selfSigned('a.test');
  const form = { format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' } as const;
  for (const type of ['pkcs8', 'sec1'] as const) {
    const encrypted = createPrivateKey(key).export({ ...form, type });
    const body = { certificate_pem: pem, private_key_pem: encrypted };
    const answer = await instance.call('POST', '/tls_certificates', body);
    expect([answer.status, answer.body.details.pointer]).toEqual([400, '/private_key_pem']);
    expect(answer.body.msg).toBe('The private key is encrypted; send it without a passphrase.');
    expect(keyProblem(pem, encrypted)).toMatch(/^the private key is encrypted/);
  }
  const others = { certificate_pem: pem, private_key_pem: selfSigned('b.test').key };
  expect((await instance.call('POST', '/tls_certificates', others)).body.msg).toMatch(/does not match/);
  await instance.close();
});
