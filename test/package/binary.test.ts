import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { copyFile, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { folderWith } from '../folder.ts';
import { ended } from '../program.ts';
import { IS_FULL } from '../random.ts';
import { startProgram } from '../running.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const EDGE = (port: number) => `
backends:
  app: { static: { address: 'localhost:${port}' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - { match_type: path_prefix, match: /shop, backend: { backend_id: app } }
`;
const scenario = (path: string, status: number) => `
edge: ./edge.yaml
cases:
  - { name: 'asks for ${path}', request: ${path}, expect: { status: ${status} } }
`;

/** Building takes a minute of a busy machine, so only the full run does it. */
describe.skipIf(!IS_FULL)('the single-file binary, alone in a folder', () => {
  const folder = folderWith();
  const binary = join(folder, 'edgeproof');
  const app = createServer((_request, response) => response.end('from the app'));
  const edgeproof = (...args: string[]) => ended(binary, args, folder);
  const started = (...args: string[]) => startProgram(binary, args, folder, { XDG_DATA_HOME: folder });

  beforeAll(async () => {
    await ensureBuilt();
    await promisify(execFile)(process.execPath, ['packaging/binary.ts'], { cwd: root });
    await copyFile(join(root, 'dist/binary/edgeproof'), binary);
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    await writeFile(join(folder, 'edge.yaml'), EDGE((app.address() as AddressInfo).port));
    await writeFile(join(folder, 'a.scenario.yaml'), scenario('/shop/1', 200));
    await writeFile(join(folder, 'b.scenario.yaml'), scenario('/', 404));
  });
  afterAll(() => void app.close());

  it('has its version and size', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await edgeproof('--version')).toEqual({ code: 0, out: `${version}\n` });
    // Node without symbols is 116 MB of it.
    expect((await stat(binary)).size).toBeLessThan(140e6);
    expect(await readFile(join(root, 'dist/binary/LICENSES.txt'), 'utf8')).toMatch(/^undici \d/m);
    expect((await readdir(join(root, 'dist/binary'))).toSorted()).toEqual(['LICENSES.txt', 'edgeproof']);
  });

  it('checks files, in TypeScript too, and shows where they are wrong', async () => {
    expect(await edgeproof('check', 'edge.yaml')).toEqual({ code: 0, out: 'edge.yaml: no problems found\n' });
    await writeFile(join(folder, 'edge.ts'), 'export default { edges: {} as Record<string, never> };');
    expect(await edgeproof('check', 'edge.ts')).toMatchObject({ code: 0 });
    await writeFile(join(folder, 'bad.yaml'), 'edges:\n  https:\n    shop: { hostport: ["a.test:443"] }\n');
    const { code, out } = await edgeproof('check', 'bad.yaml');
    expect(out).toMatch(/^bad\.yaml:3:\d+ error edge\.unknown_key/m);
    expect(code).toBe(3);
  });

  it('runs cases, on threads too, and what is loaded only for some verbs', async () => {
    for (const jobs of ['1', '2'])
      expect(await edgeproof('test', '--jobs', jobs)).toMatchObject({
        code: 0,
        out: expect.stringContaining('2 passed') as string,
      });
    expect((await edgeproof('test', '--events', 'log.ndjson')).code).toBe(0);
    const replay = ['replay', 'log.ndjson', '-e', 'edge.yaml', '--against', 'edge.yaml'];
    const [alone, together] = [await edgeproof(...replay), await edgeproof(...replay, '--jobs', '2')];
    expect(alone.out).toContain('2 records: 0 changed');
    expect(together).toEqual(alone);
    for (const args of [
      ['cover'],
      ['mutate', 'a.scenario.yaml', '--jobs', '2'],
      ['diff', 'edge.yaml', 'edge.yaml'],
      ['classes', 'edge.yaml'],
      ['explain', 'GET', 'https://shop.test/shop'],
      ['explain-code', 'edge.unknown_key'],
      ['eval', '1 + 1'],
      ['completion', 'bash'],
      ['--help'],
    ])
      expect({ args, ...(await edgeproof(...args)) }).toMatchObject({ args, code: 0 });
  });

  it.each(['1', '2'])('runs a local ingress with %s processes', async (workers) => {
    const ports = ['--port', '0', '--tls-port', '0'];
    const dev = started('dev', 'edge.yaml', '--no-watch', '--workers', workers, ...ports);
    const [, url] = await dev.waitFor(/(http:\/\/127\.0\.0\.1:\d+)/);
    const { code, out } = await ended('curl', ['-si', '-H', 'Host: shop.test', `${url}/shop`], folder);
    expect(out).toMatch(/^HTTP\/1\.1 200 [^]*from the app$/);
    expect(code).toBe(0);
    expect(await dev.stop('SIGTERM')).toBe(0);
  });

  it('serves the management API and keeps what was written', async () => {
    const ports = ['--port', '0', '--api-port', '0'];
    const serve = started('serve', '--store', 'a.db', ...ports);
    const [, key] = await serve.waitFor(/admin key, shown only once: (\S+)/);
    const [, api] = await serve.waitFor(/management API (\S+)/);
    const headers = { authorization: `Bearer ${key}`, 'service-version': '2' };
    const answer = await fetch(`${api}/ip_policies`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"description":"office"}',
    });
    expect([answer.status, await answer.json()]).toMatchObject([201, { description: 'office' }]);
    const schema = await fetch(`${api}/openapi.json`, { headers });
    expect(await schema.json()).toHaveProperty('openapi');
    expect(await serve.stop('SIGTERM')).toBe(0);
    const again = started('serve', '--store', 'a.db', ...ports);
    const [, later] = await again.waitFor(/management API (\S+)/);
    expect(await (await fetch(`${later}/ip_policies`, { headers })).text()).toContain('office');
    expect(await again.stop('SIGTERM')).toBe(0);
  });

  it('carries the JSON Schemas', async () => {
    const names = await promisify(execFile)(process.execPath, [
      '-e',
      `const { readFileSync } = require('node:fs');
       console.log(readFileSync(process.argv[1]).includes('edgeproof scenario file'));`,
      binary,
    ]);
    expect(names.stdout.trim()).toBe('true');
  });
});
