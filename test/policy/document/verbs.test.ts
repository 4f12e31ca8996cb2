import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENT_CODES } from '../../../src/policy/codes/document_codes.ts';
import { folderWith } from '../../folder.ts';
import { edgeproof } from '../../cli/command.ts';

const folder = folderWith();

const run = (...args: readonly string[]) => edgeproof(args, folder);

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

const OLD = 'inbound:\n  # no\n  - actions: [{ type: deny }]\n';
const NEW = 'on_http_request:\n  # no\n  - actions:\n      - type: deny\n';

describe('fmt', () => {
  it('prints the canonical form', async () => {
    const { code, stdout } = await run('fmt', file('print.yaml', OLD));
    expect([code, stdout]).toEqual([0, NEW]);
    expect(readFileSync(join(folder, 'print.yaml'), 'utf8')).toBe(OLD);
  });

  it('--check lists files that are not formatted', async () => {
    const [old, fine] = [file('old.yaml', OLD), file('new.yaml', NEW)];
    expect(await run('fmt', '--check', fine)).toEqual({ code: 0, stdout: '', stderr: '' });
    const { code, stdout } = await run('fmt', '--check', fine, old);
    expect([code, stdout]).toEqual([1, 'old.yaml: not formatted\n']);
  });

  it('--write formats them', async () => {
    const name = file('write.yaml', OLD);
    expect((await run('fmt', '--write', name)).stdout).toBe('write.yaml: formatted\n');
    expect(readFileSync(join(folder, name), 'utf8')).toBe(NEW);
    expect((await run('fmt', '--write', name)).stdout).toBe('');
  });

  it('reports the errors of a text that cannot be formatted', async () => {
    const { code, stderr } = await run(
      'fmt',
      file('tag.yaml', 'on_http_request:\n  - expressions: [!has(req.x)]\n'),
    );
    expect(code).toBe(3);
    expect(stderr).toContain('tag.yaml:2:19 error ERR_SERVICE_2200');
  });

  it('reports a missing file', async () => {
    expect(await run('fmt', 'nowhere.yaml')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'cannot read nowhere.yaml: there is no such file or folder; correct the name, or create it\n',
    });
  });
});

describe('check of a policy for its endpoint', () => {
  const policy = `on_http_request:
  - expressions: ["req.method == 'PUT'"]
    actions: [{ type: circuit-breaker }]
  - actions: [{ type: log, config: { metadata: { a: b } } }]
`;

  it.each([
    [[], 0, 'no problems found'],
    [['--as', 'cloud_endpoint'], 3, 'ERR_SERVICE_2235'],
    [['--plan', 'actions=1,without=circuit-breaker'], 3, 'ERR_SERVICE_2256'],
    [['--plan', 'rules=2,expressions=1,actions=1'], 0, 'no problems found'],
  ])('%j', async (options, exit, message) => {
    const { code, stdout } = await run('check', ...options, file('plain.yaml', policy));
    expect([code, stdout.includes(message)]).toEqual([exit, true]);
  });

  it.each([
    ['--as', 'balloon'],
    ['--plan', 'without=flying'],
  ])('%s %s is not valid', async (option, value) => {
    const { code, stderr } = await run('check', option, value, file('plain.yaml', policy));
    expect([code === 0, stderr.includes(`argument '${value}' is invalid`)]).toEqual([false, true]);
  });
});

it('http takes its policy with --policy, and says so', async () => {
  const { code, stderr } = await run('http', '3000', '--policy', 'nowhere.yml');
  expect([code, stderr]).toEqual([
    2,
    'cannot read nowhere.yml: there is no such file or folder; correct the name, or create it\n',
  ]);
  expect((await run('http', '3000', '-p', 'policy.yml')).stderr).toContain('a policy is named with --policy');
});

describe('fmt of an edge file', () => {
  it('writes only the policies in it', async () => {
    const edge = (policy: string) => `edges: # here
  https:
    shop: { hostports: ['a.test:443'], routes: [{ match: /, traffic_policy: { value: '${policy}' } }] }
`;
    const path = file('edge.yaml', edge('{"inbound": [{"actions": [{"type": "deny"}]}]}'));
    const { code, stdout } = await run('fmt', path);
    expect([code, stdout]).toEqual([0, edge('{"on_http_request":[{"actions":[{"type":"deny"}]}]}')]);
    expect((await run('fmt', '--check', path)).code).toBe(1);
  });
});

describe('explain-code', () => {
  it.each(['ERR_SERVICE_2207', '2207', 'err_other_2207'])(
    '%s is explained with an example',
    async (written) => {
      const { code, stdout } = await run('explain-code', written);
      expect(code).toBe(0);
      expect(stdout).toContain('ERR_SERVICE_2207  Action can never run');
      expect(stdout).toContain('policy.yaml:4:15 error ERR_SERVICE_2207');
      expect(stdout.split('The fix')[1]).toContain('- type: deny');
    },
  );

  it.each([
    ['policy.never_runs', 'after one that always ends'],
    ['expr.constant_condition', 'always true'],
    ['edge.unknown_key', 'is unknown at this place'],
    ['2254', 'Sent at run time'],
    ['ERR_SERVICE_3005', 'did not respond in time'],
    ['2263', 'Reported by the service only'],
    ['2251', 'page is empty'],
    ['2232', 'Reported by the service only'],
    ['3422', 'could not be fetched'],
    ['3700', 'checked but not executed'],
    ['2248', 'on an HTTPS edge'],
  ])('%s is explained', async (written, part) => {
    const { code, stdout } = await run('explain-code', written);
    expect([code, stdout.includes(part)]).toEqual([0, true]);
  });

  it('uses the service name in codes', async () => {
    expect((await run('explain-code', '2200', '--service-name', 'acme')).stdout).toMatch(
      /^ERR_ACME_2200 {2}/,
    );
  });

  it('suggests a code for an unknown one', async () => {
    const { code, stderr } = await run('explain-code', 'policy.never_run');
    expect([code, stderr]).toEqual([2, "unknown code 'policy.never_run'; did you mean policy.never_runs?\n"]);
    expect((await run('explain-code', '22077')).stderr).toContain('did you mean ERR_SERVICE_2207?');
  });

  it('knows all codes of documents', () => {
    expect(DOCUMENT_CODES.length).toBeGreaterThan(40);
  });
});
