import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Running, start } from '../cli/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeproof-dev-api-test-'));
let running: Running | null = null;
afterEach(() => {
  running?.process.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const edgeFile = (body: string) =>
  JSON.stringify({
    backends: { hello: { http_response: { status_code: 200, body } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'hello' } }],
        },
      },
    },
  });

describe('dev --api', () => {
  it('starts with the file, applies writes immediately, and applies the file again when it is saved', async () => {
    const file = join(folder, 'edge.yaml');
    writeFileSync(file, edgeFile('one'));
    const dev = (running = start(['dev', 'edge.yaml', '--port', '0', '--api', '0', '--poll'], folder));
    const [, url] = await dev.waitFor(/ready in \d+ ms {2}(http:\S+)/);
    const [, api, key] = await dev.waitFor(/management API (\S+) [\s\S]*shown only once: (\S+)\n/);
    const body = async (path: string) => (await fetch(url! + path)).text();
    const call = async (method: string, path: string, sent?: object) => {
      const headers = {
        authorization: `Bearer ${key!}`,
        'service-version': '2',
        'content-type': 'application/json',
      };
      const response = await fetch(api! + path, {
        method,
        headers,
        ...(sent && { body: JSON.stringify(sent) }),
      });
      // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers of every shape
      return await response.json();
    };
    expect(await body('/')).toBe('one');

    const {
      https_edges: [edge],
    } = await call('GET', '/edges/https');
    const { id } = await call('POST', '/backends/http_response', { body: 'by a client' });
    const route = { match_type: 'path_prefix', match: '/api', backend: { backend_id: id } };
    await call('POST', `/edges/https/${edge.id}/routes`, route);
    expect(await body('/api')).toBe('by a client');

    writeFileSync(file, edgeFile('two'));
    await dev.waitFor(/edge\.yaml changed: revision \d+ is live/);
    expect([await body('/'), await body('/api')]).toEqual(['two', 'two']);
    writeFileSync(file, '{"edges": {"https": {"shop": {}}}}');
    await dev.waitFor(/edge\.yaml has errors: still serving/);
    expect(await body('/')).toBe('two');
    expect(await dev.stop('SIGTERM')).toBe(0);
    expect(dev.output().split(key!)).toHaveLength(2);
  });
});
