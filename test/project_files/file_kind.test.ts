import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kindOfFile } from '../../src/project_files/file_kind.ts';
import { edgeproof } from '../cli/command.ts';

describe('the kind of a file', () => {
  it.each([
    ['policy', 'on_http_requst:\n  - actions: [{ type: deny }]\n'],
    ['policy', '{"on_http_requst": [{"actions": [{"type": "deny"}]}]}'],
    ['policy', 'onHttpRequest: []\n'],
    ['policy', 'rules:\n  - actions: [{ type: deny }]\n'],
    ['policy', '{\n  "on_http_respones": [{"actions": [{"type": "deny"}]}]\n}'],
    ['edge', 'edgs: { https: {} }\nbackend: {}\n'],
    ['edge', '{\n  "service_name": "a",\n  "edges": { "https": {} }\n}'],
    ['edge', '{"backends": {}}'],
    ['edge', '{\n  "edges": {\n    "x": {\n      "on_http_request": []\n    }\n  }\n}'],
    ['edge', '# mine\n---\n{ edges: { x: { on_http_request: [] } } }'],
    ['policy', '{\n  "on_http_request": [\n    { "body": {\n  "edges": {}, "backends": {} } }\n  ]\n}'],
    [
      'scenario',
      '{\n  "edge": {\n    "backends": {}, "a": "}\\"]",\n    "edges": {}\n  },\n  "cases": []\n}',
    ],
    ['edge', 'nothing_known: 1\n'],
    ['edge', ': [\n'],
    ['scenario', 'edge: edge.yaml\ncase:\n  - name: a\n'],
    ['scenario', 'policy: policy.yml\ncases: []\n'],
  ])('is detected: %s, %j', async (kind, text) => {
    expect(await kindOfFile(text)).toBe(kind);
  });

  it.each([
    ['policy', 'policies', /\.(?:yaml|json)$/],
    ['scenario', 'scenarios', /\.scenario\.yaml$/],
    ['edge', 'every_module', /^edge\.yaml$/],
  ])('is detected for fixtures: %s', async (kind, folder, names) => {
    const files = readdirSync(`fixtures/${folder}`).filter((name) => names.test(name));
    const told = files.map((file) => kindOfFile(readFileSync(`fixtures/${folder}/${file}`, 'utf8')));
    expect(new Set(await Promise.all(told))).toEqual(new Set([kind]));
  });
});

describe('a misspelt phase', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'edgeproof-kind-'));
    await writeFile(join(folder, 'policy.yml'), '# mine\non_http_requst:\n  - actions: [{ type: deny }]\n');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is reported by check, with the intended name', async () => {
    const { code, stdout } = await edgeproof(['check', 'policy.yml'], folder);
    expect(code).toBe(3);
    expect(stdout).toContain(
      "policy.yml:2:1 error ERR_SERVICE_2236 'on_http_requst' is not a phase of a policy",
    );
    expect(stdout).toMatch(/\^{14} did you mean 'on_http_request'\?/);
  });

  it('is reported as a policy where an edge file is expected', async () => {
    const { code, stdout } = await edgeproof(['dev', 'policy.yml', '--port', '0'], folder);
    expect(code).toBe(3);
    expect(stdout).toContain('this seems to be a traffic policy');
  });
});
