import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { nodeIsTooOld } from '../../src/cli/version.ts';
import { isCidrProblem, parseCidr } from '../../src/net/cidr.ts';
import { folderWith } from '../folder.ts';
import { writeMmdb } from '../policy/env/mmdb_writer.ts';
import { edgeproof } from './command.ts';

const SAMPLE = fileURLToPath(new URL('../../fixtures/sample/edge.yaml', import.meta.url));
const folder = folderWith({
  'broken.yaml': 'edges:\n  https:\n    shop: { hostport: ["a.test:443"] }\n',
  'edge.ts': `interface Named { readonly hostports: string[] }
     const shop: Named = { hostports: ['a.test:443'] };
     export default { edges: { https: { shop } } };`,
  'edge.json': '{ "edges": { "https": { "shop": { "hostports": ["a.test:443"] } } } }',
});

describe('edgeproof check', () => {
  it.each([SAMPLE, 'edge.ts', 'edge.json'])('finds nothing wrong with %s', async (file) => {
    expect(await edgeproof(['check', file], folder)).toMatchObject({ code: 0, stderr: '' });
  });

  it('shows errors and their places, exit code 3', async () => {
    const { code, stdout } = await edgeproof(['check', 'broken.yaml'], folder);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^broken\.yaml:3:\d+ error edge\.unknown_key/m);
    expect(stdout).toContain("did you mean 'hostports'?");
    expect(stdout).toMatch(/│ +\^+/);
  });

  it('prints the same as JSON', async () => {
    const { code, stdout } = await edgeproof(['check', '--json', 'broken.yaml'], folder);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ code: 'edge.unknown_key', severity: 'error' }),
    );
  });

  it('names a webhook provider that may sign in another way', async () => {
    const route = (provider: string) =>
      `{ match_type: exact_path, match: /${provider}, backend: { backend_id: a }, webhook_verification: { provider: ${provider}, secret: s } }`;
    await writeFile(
      join(folder, 'hooks.yaml'),
      `backends: { a: { http_response: { status_code: 200 } } }\nedges: { https: { a: { hostports: ["a.test:443"], routes: [${route('github')}, ${route('jira')}] } } }\n`,
    );
    const { code, stdout, stderr } = await edgeproof(['check', 'hooks.yaml'], folder);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hooks.yaml: no problems found\n' });
    expect(stderr).toBe(
      'webhook provider jira: how it signs is known with medium certainty; try it with a real webhook before you rely on it\n',
    );
  });

  it('applies the fixes that keep the meaning', async () => {
    await writeFile(
      join(folder, 'policy.yaml'),
      'on_http_request:\n  - actions:\n      - { type: custom-response, config: { content: hi } }\n',
    );
    const { code, stdout } = await edgeproof(['check', '--fix', 'policy.yaml'], folder);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'policy.yaml: 1 fix applied\npolicy.yaml: no problems found\n',
    });
    expect((await edgeproof(['check', 'policy.yaml'], folder)).stdout).toBe(
      'policy.yaml: no problems found\n',
    );
  });

  it('exits 2 for a missing file', async () => {
    expect(await edgeproof(['check', 'nowhere.yaml'], folder)).toMatchObject({
      code: 2,
      stderr: 'cannot read nowhere.yaml: there is no such file or folder; correct the name, or create it\n',
    });
  });
});

describe('edgeproof explain', () => {
  const explain = (...args: string[]) => edgeproof(['explain', ...args, '--edge', SAMPLE], folder);

  it('prints the steps, the reason and its place', async () => {
    const { code, stdout } = await explain(
      'GET',
      'https://shop.test/admin',
      '--ip',
      '203.0.113.200',
      '-H',
      'user-agent: curl/8',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/■ ip_restriction +stop .*rule=office#3.*edge\.yaml:\d+:\d+/);
    expect(stdout).toMatch(/└ 403 {2}ip_restriction\.denied\n$/);
  });

  it('prints the same as JSON, with the event if requested', async () => {
    const { stdout } = await explain('get', 'https://shop.test/healthz', '--json', '--event');
    expect(JSON.parse(stdout)).toMatchObject({
      status: 200,
      backend: 'ok',
      decidedBy: { module: 'upstream', verdict: 'pass' },
      event: { event_type: 'http_request_complete.v0', object: { http: { response: { status_code: 200 } } } },
    });
  });

  it.each([
    [['GET', 'shop.test/admin'], 'has no scheme; write https://shop.test/admin'],
    [['GET', 'https://shop.test/', '--ip', '999.1.1.1'], 'expected an IP address'],
    [['GET', 'https://shop.test/', '-H', 'nocolon'], "write a header as 'name: value'"],
    [['GET', 'https://shop.test/', '--upstream-status', '99'], 'expected a status'],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, stderr } = await explain(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('edgeproof explain with agents', () => {
  const EDGE = `backends: { shop: { tunnel_group: { labels: { app: shop } } } }
edges:
  https:
    shop: { hostports: ['shop.test:443'], routes: [{ match_type: path_prefix, match: /, backend: { backend_id: shop } }] }
  tcp: { shop: { hostports: ['1.tcp.test:5432'], backend: { backend_id: shop } } }
`;

  it('are offline, or those that are named', async () => {
    await writeFile(join(folder, 'agents.yaml'), EDGE);
    const explain = (...args: string[]) => edgeproof(['explain', ...args, '--edge', 'agents.yaml'], folder);
    const url = ['GET', 'https://shop.test/', '--agent', 'app=else'];
    const all = await Promise.all([
      explain(...url),
      explain(...url, '--agent', 'app=shop,owner=ann', '--json'),
      explain('--connect', '1.tcp.test:5432', '--agent', 'app=shop'),
      explain(...url, '--why-not', 'backend.offline', '--agent', 'app=shop'),
      explain(...url, '--agent', 'shop'),
    ]);
    const [offline, json, connected, why, misspelt] = all;
    expect(offline.stdout).toContain('└ 503  backend.offline');
    expect(JSON.parse(json.stdout)).toMatchObject({ backend: 'shop', tunnel: 'agent-2', status: 200 });
    expect(connected.stdout).toContain('└ allowed → backend shop through tunnel agent-1');
    expect(why.stdout).toContain('with shop offline');
    expect(misspelt.stderr).toContain('expected labels such as app=shop');
  });
});

describe('edgeproof explain with an address database', () => {
  it('uses the database that the edge file names', async () => {
    const cidr = parseCidr('203.0.113.0/24');
    if (isCidrProblem(cidr)) throw new Error(cidr.message);
    const berlin = { country: { iso_code: 'DE', names: { en: 'Germany' } } };
    await writeFile(join(folder, 'geo.mmdb'), writeMmdb([[cidr, berlin]]));
    await writeFile(
      join(folder, 'geo.yaml'),
      `address_databases: [geo.mmdb]
backends: { a: { http_response: { status_code: 200 } } }
edges:
  https:
    a:
      hostports: ["a.test:443"]
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: a }
          traffic_policy:
            value: |
              on_http_request:
                - expressions: ["conn.client_ip.geo.location.country_code == 'DE'"]
                  actions: [{ type: deny, config: { status_code: 451 } }]
`,
    );
    const args = ['explain', 'GET', 'https://a.test/', '--edge', 'geo.yaml', '--ip'];
    expect((await edgeproof([...args, '203.0.113.7'], folder)).stdout).toMatch(/└ 451/);
    // Unknown facts fail closed, with a reason.
    expect((await edgeproof([...args, '198.51.100.7'], folder)).stdout).toMatch(
      /`geo` is absent[\s\S]*└ 500/,
    );
    await writeFile(join(folder, 'geo.mmdb'), 'not a database');
    expect(await edgeproof([...args, '203.0.113.7'], folder)).toMatchObject({ code: 2 });
  });
});

describe('the command', () => {
  it('lists its verbs, and suggests one for a typo', async () => {
    expect((await edgeproof(['--help'], folder)).stdout).toMatch(/check [\s\S]*explain/);
    const { code, stderr } = await edgeproof(['chekc'], folder);
    expect(code).toBe(2);
    expect(stderr).toContain('check');
  });

  it('detects a Node that is too old', () => {
    expect(nodeIsTooOld('20.20.2')).toBe(true);
    expect(nodeIsTooOld('24.0.0')).toBe(false);
  });
});
