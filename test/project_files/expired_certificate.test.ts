import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/project_files/load_config.ts';
import { newSigningIdentity } from '../../src/crypto/issue_certificate.ts';
import { folderWith } from '../folder.ts';

const YEAR_MS = 365 * 24 * 3_600_000;

const folder = folderWith();

it('the command line warns about certificates that are not valid at this time', async () => {
  const told = async (madeMs: number, inFile: boolean): Promise<string[]> => {
    const { certificatePem, privateKeyPem } = newSigningIdentity('shop.test', madeMs);
    writeFileSync(join(folder, 'a.pem'), certificatePem);
    writeFileSync(join(folder, 'a.key'), privateKeyPem);
    const certificate = inFile
      ? { certificate_file: 'a.pem', private_key_file: 'a.key' }
      : { certificate_pem: certificatePem, private_key_pem: privateKeyPem };
    const path = join(folder, 'edge.json');
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'web' } }];
    const edge = {
      backends: { web: { static: { address: '127.0.0.1:9' } } },
      tls_certificates: { a: certificate },
      edges: { https: { a: { hostports: ['shop.test:443'], routes } } },
    };
    writeFileSync(path, JSON.stringify(edge));
    const { diagnostics } = await loadConfig(path);
    return diagnostics.map(({ code, pointer }) => `${code} ${pointer}`);
  };
  const at = 'edge.certificate_expired /tls_certificates/a';
  expect(await told(Date.now(), true)).toEqual([]);
  expect(await told(Date.now() - 50 * YEAR_MS, true)).toEqual([`${at}/certificate_file`]);
  expect(await told(Date.now() - 50 * YEAR_MS, false)).toEqual([`${at}/certificate_pem`]);
  expect(await told(Date.now() + 2 * YEAR_MS, true)).toEqual([`${at}/certificate_file`]);
});
