import { beforeAll, describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const POLICY = `on_http_request:
  - name: admins
    expressions: ["req.url.path.startsWith('/admin')"]
    actions:
      - type: restrict-ips
        config: { allow: ['198.51.100.0/24'] }
`;
const SCENARIO = `policy: policy.yml
cases:
  - { name: others, request: GET /admin, expect: { status: 403 } }
`;

let folder: string;
beforeAll(() => {
  folder = folderWith({
    'policy.yml': POLICY,
    'policy.scenario.yaml': SCENARIO,
    'other.scenario.yaml':
      'policy: other.yml\ncases: [{ name: a, request: GET /, expect: { status: 200 } }]\n',
    'other.yml': 'on_http_request:\n  - actions: [{ type: denny }]\n',
    'alone/policy.yml': POLICY,
    'as_edge.scenario.yaml': SCENARIO.replace('policy:', 'edge:'),
  });
});

describe('a policy in a file of its own', () => {
  it('is explained on a request of any host, with its places', async () => {
    const words = ['explain', '-e', 'policy.yml', 'GET', 'https://shop.example/admin', '--ip', '192.0.2.1'];
    const { code, stdout } = await edgeproof(words, folder);
    expect(code).toBe(0);
    expect(stdout).toContain('└ 403');
    expect(stdout).toContain('policy.yml:5:9');
  });

  it('names the scenario files that test it, as policy and as edge', async () => {
    const { code, stdout } = await edgeproof(['test', 'policy.yml'], folder);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain('2 passed');
    const covered = await edgeproof(['cover', 'policy.yml', '--no-offer'], folder);
    expect(covered.stdout).toMatch(/^policy\.yml {2}\(2 requests\)/);
  });

  it('without a scenario file: the message says what to write', async () => {
    const { code, stderr } = await edgeproof(['test', 'alone/policy.yml'], folder);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'no scenario file in alone tests alone/policy.yml; write a *.scenario.yaml with `policy: policy.yml` and `cases`',
    );
  });

  it.each([
    ['bench', ['--duration', '20ms', '--warm-up', '20ms', '--no-profile']],
    ['explain', ['GET', 'https://a.test/']],
    ['test', []],
    ['cover', []],
    ['classes', []],
  ])('%s reports its mistakes in its file', async (verb, words) => {
    const file = verb === 'explain' ? ['-e', 'other.yml'] : ['other.yml'];
    const given = ['test', 'cover'].includes(verb) ? ['other.scenario.yaml'] : file;
    const { code, stdout, stderr } = await edgeproof([verb, ...given, ...words], folder);
    expect(code).toBe(3);
    expect(stdout + stderr).toMatch(/other\.yml:2:23 error \S+ .*\n(?:.*\n){2}.*did you mean 'deny'\?/);
    expect(stdout + stderr).toContain('= at /on_http_request/0/actions/0/type');
  });

  it('can be analysed as an edge can', async () => {
    expect((await edgeproof(['diff', 'policy.yml', 'alone/policy.yml'], folder)).code).toBe(0);
    const { stdout } = await edgeproof(['check', '--exact', 'policy.yml'], folder);
    expect(stdout).toBe('policy.yml: no problems found\n');
  });
});
