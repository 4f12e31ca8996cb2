import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof, start } from './command.ts';

const POLICY = `on_http_request:
  - expressions: ["has(conn.geo.country_code) && conn.geo.country_code == 'FR'"]
    actions: [{ type: deny, config: { status_code: 451 } }]
  - expressions: ["req.url.path.startsWith('/api')"]
    actions: [{ type: forward-internal, config: { url: https://api.internal } }]
`;

const folder = folderWith({
  'policy.yml': POLICY,
  'france.yaml': 'facts: [{ cidr: 127.0.0.0/8, geo: { location: { country_code: FR } } }]\n',
  'elsewhere.yaml': 'facts: [{ cidr: 127.0.0.0/8, geo: { location: { country_code: DE } } }]\n',
  'none.yaml': 'fact: []\n',
});

async function serving(body: string): Promise<number> {
  const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
  afterAll(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

it('http runs a published policy with facts and the targets of forward-internal', async () => {
  const [app, api] = [await serving('app'), await serving('api')];
  const run = async (facts: string) => {
    const args = [
      'http',
      String(app),
      '--policy',
      'policy.yml',
      '--facts',
      facts,
      '--internal',
      `api.internal=${api}`,
    ];
    const running = start([...args, '--port', '0'], folder);
    const [, url] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
    await running.waitFor(/api\.internal {2}→/);
    const got = await Promise.all(['/', '/api/x'].map((path) => fetch(`${url}${path}`)));
    const shown = await Promise.all(got.map(async (each) => `${each.status} ${await each.text()}`));
    if (shown.includes('200 api')) await running.waitFor(/ → api\.internal$/m);
    await running.stop('SIGTERM');
    return shown;
  };
  expect(await run('elsewhere.yaml')).toEqual(['200 app', '200 api']);
  expect((await run('france.yaml')).map((each) => each.slice(0, 3))).toEqual(['451', '451']);
});

it('http says that a policy is empty, and what one has', async () => {
  const empty = folderWith({ 'empty.yaml': '' });
  const { code, stdout } = await edgeproof(['http', '3000', '--policy', 'empty.yaml'], empty);
  expect(code).toBe(3);
  expect(stdout).toMatch(
    /empty\.yaml.* the policy is empty\n[^]*a minimal policy has a phase such as `on_http_request`/,
  );
});

it('http refuses what it cannot use', async () => {
  const none = await edgeproof(['http', '3000', '--policy', 'policy.yml', '--facts', 'none.yaml'], folder);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('none.yaml has no `facts`') });
  const public_ = await edgeproof(['http', '3000', '--internal', 'api.test=3000'], folder);
  expect(public_).toMatchObject({ code: 2, stderr: expect.stringContaining('ends in .internal') });
});
