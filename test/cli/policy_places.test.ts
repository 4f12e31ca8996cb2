import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Running, edgeproof, start } from './command.ts';

/** Stops of a policy: in a YAML block, in quoted JSON, in a folded block with an older spelling. */
const EDGE = `backends: { app: { static: { address: 'localhost:9' } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: exact_path
          match: /yaml
          backend: { backend_id: app }
          traffic_policy:
            value: |
              # a comment
              on_http_request:
                - name: deny all
                  actions:
                    - type: deny
        - match_type: exact_path
          match: /json
          backend: { backend_id: app }
          traffic_policy:
            value: '{"on_http_request": [{
              "actions": [{"type": "deny", "config": {"status_code": 418}}]}]}'
        - match_type: exact_path
          match: /older
          backend: { backend_id: app }
          traffic_policy:
            value: >
              {"inbound": [{"actions": [
                {"type": "deny"}]}]}
  tls:
    pass:
      hostports: ['pass.test:443']
      backend: { backend_id: app }
      traffic_policy:
        value: |
          on_tcp_connect:
            - actions:
                - type: restrict-ips
                  config: { allow: ['10.0.0.0/8'] }
`;

const POLICY = `on_http_request:
  - name: only us
    expressions: ["!conn.client_ip.startsWith('10.')"]
    actions:
      - type: deny
`;

const scenario = (under: string, url: string) =>
  `${under}\ncases:\n  - name: refused\n    request: GET ${url}\n    expect: { status: 403 }\n`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-places-'));
  const indented = POLICY.replaceAll(/^/gm, '  ');
  for (const [name, text] of Object.entries({
    'edge.yaml': EDGE,
    'policy.yml': POLICY,
    'edge.scenario.yaml': scenario('edge: edge.yaml', 'https://shop.test/yaml'),
    'policy.scenario.yaml': scenario('policy: policy.yml', 'https://edge.test/'),
    'inside.scenario.yaml': scenario(`policy:\n${indented}`, 'https://edge.test/'),
  }))
    await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** `line:column` of a text in the edge file. */
function placeIn(text: string, what: string, from = ''): string {
  const at = text.indexOf(what, text.indexOf(from));
  const before = text.slice(0, at).split('\n');
  return `${before.length}:${before.at(-1)!.length + 1}`;
}

it.each([
  ['a block of YAML', '/yaml', placeIn(EDGE, 'type: deny', '/yaml')],
  ['JSON in quotes', '/json', placeIn(EDGE, '{"type": "deny"', '/json')],
  ['a folded block, in an older spelling', '/older', placeIn(EDGE, '{"type": "deny"', '/older')],
])('explain shows the place of the action that stops the request: in %s', async (_name, path, place) => {
  const { stdout } = await edgeproof(['explain', 'GET', `https://shop.test${path}`], folder);
  expect(stdout).toMatch(new RegExp(`■ traffic_policy  stop .*  edge\\.yaml:${place}\n`));
  expect(stdout).toMatch(new RegExp(`action deny: .*  edge\\.yaml:${place}\n`));
});

it('explain shows where a connection is refused, and the place of the rule', async () => {
  const args = ['explain', '--connect', 'pass.test:443', '--json'];
  const { decidedBy } = JSON.parse((await edgeproof(args, folder)).stdout) as {
    decidedBy: { place: object; inner: { place: object }[] };
  };
  const [line, column] = placeIn(EDGE, 'type: restrict-ips').split(':').map(Number);
  expect(decidedBy.place).toEqual({ file: 'edge.yaml', line, column });
  expect(decidedBy.inner[0]?.place).toMatchObject({ file: 'edge.yaml', line: line! - 1 });
});

it.each([
  ['edge.scenario.yaml', `edge.yaml:${placeIn(EDGE, 'type: deny')}`],
  ['policy.scenario.yaml', `policy.yml:${placeIn(POLICY, 'type: deny')}`],
  // Only lines are known for what a scenario contains.
  ['inside.scenario.yaml', 'inside.scenario.yaml:6:1'],
])('explain of a case shows the place: %s', async (file, place) => {
  const { stdout } = await edgeproof(['explain', '--scenario', file, '--case', 'refused'], folder);
  expect(stdout).toMatch(new RegExp(`■ traffic_policy  stop .*  ${place.replaceAll('.', '\\.')}\n`));
});

it.each([
  ['dev', ['dev', 'edge.yaml', '--port', '0'], /\/yaml +traffic_policy\.denied deny all +edge\.yaml:16$/m],
  [
    'http',
    ['http', '9', '--policy', 'policy.yml', '--port', '0'],
    /traffic_policy\.denied only us +policy\.yml:5$/m,
  ],
])('the log line of %s contains the place', async (_name, args, line) => {
  const running: Running = start(args, folder);
  try {
    const [, url] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
    const request = get(`${url}/yaml`, { headers: { host: 'shop.test' } }, (response) => response.resume());
    await once(request, 'close');
    await running.waitFor(line);
  } finally {
    await running.stop('SIGTERM');
  }
});
