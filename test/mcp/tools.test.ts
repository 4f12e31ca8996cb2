import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TOOLS } from '../../src/mcp/tools.ts';
import { folderWith } from '../folder.ts';
import { oneRoute } from '../one_route.ts';
import { IS_FULL } from '../random.ts';
import { type Assistant, assistant } from './client.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures');
const URL = 'https://shop.test/admin';
const WRONG = 'edges:\n  https:\n    a:\n      hostports: ["a.test:443"]\n      rutes: []\n';
const CASES = `edge: edge.yaml
cases:
  - name: passes
    request: { url: 'https://shop.test/admin', ip: 203.0.113.9, headers: { user-agent: me } }
    expect: { status: 200 }
  - { name: fails, request: 'https://shop.test/admin', expect: { status: 418 } }
`;

let folder: string;
let own: Assistant;
beforeAll(async () => {
  folder = folderWith();
  copyFileSync(join(FIXTURES, 'sample/edge.yaml'), join(folder, 'edge.yaml'));
  writeFileSync(join(folder, 'edge.scenario.yaml'), CASES);
  writeFileSync(join(folder, 'small.yaml'), JSON.stringify(oneRoute()));
  own = await assistant(folder);
}, 240_000);
afterAll(() => own.close());

const resultOf = async (tool: string, input: object): Promise<Record<string, unknown>> => {
  const { problem, result } = await own.call(tool, input);
  expect(problem).toBeUndefined();
  return result as unknown as Record<string, unknown>;
};

describe('the tools', () => {
  test('are all offered, and say that they change nothing', async () => {
    const { tools } = await own.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(TOOLS));
    for (const { annotations, inputSchema, outputSchema, description } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false });
      expect([inputSchema.type, outputSchema?.['type']]).toEqual(['object', 'object']);
      expect(description!.length).toBeGreaterThan(20);
    }
  });

  test('check gives findings with code, place and hint, for a text and for a file', async () => {
    const { exitCode, result } = await own.call('check', { text: WRONG });
    expect(exitCode).toBe(3);
    expect(result).toContainEqual(
      expect.objectContaining({
        code: 'edge.unknown_key',
        range: expect.objectContaining({ start: { line: 5, column: 7 } }) as object,
      }),
    );
    expect(await own.call('check', { file: 'edge.yaml' })).toMatchObject({ exitCode: 0, result: [] });
  });

  test('explain says what decided and where; decide gives the outcome only', async () => {
    const explained = await resultOf('explain', { file: 'edge.yaml', url: URL, ip: '192.0.2.1' });
    expect(explained).toMatchObject({ status: 403, decidedBy: { module: 'ip_restriction' } });
    expect(explained).toHaveProperty('steps');
    const text = readFileSync(join(folder, 'edge.yaml'), 'utf8');
    const headers = { 'user-agent': 'me' };
    const decided = await resultOf('decide', { text, url: URL, ip: '203.0.113.9', headers });
    expect(Object.keys(decided)).toEqual(['status', 'backend', 'decidedBy'].filter((key) => key in decided));
    expect(decided).toMatchObject({ status: 200, backend: 'app' });
  });

  test('why_not gives the change as a request', async () => {
    const input = { file: 'edge.yaml', url: URL, ip: '203.0.113.9', name: 'app' };
    expect(await resultOf('why_not', input)).toMatchObject({
      verdict: 'changes',
      request: { headers: { 'user-agent': expect.any(String) as string } },
    });
  });

  test('`test` reports failures; `cover` reports open points', async () => {
    expect(await resultOf('test', { paths: ['edge.scenario.yaml'] })).toMatchObject({
      summary: { passed: 1, failed: 1 },
    });
    expect(await resultOf('test', { filter: 'passes' })).toMatchObject({ summary: { passed: 1, failed: 0 } });
    const covered = await own.call('cover', { paths: ['edge.scenario.yaml'], detail: 'full' });
    expect(JSON.stringify(covered.result)).toContain('edge.yaml');
  });

  test('diff gives a witness for each difference', async () => {
    const text = readFileSync(join(folder, 'edge.yaml'), 'utf8');
    const next = folderWith();
    const other = await assistant(folder, ['--root', folder, '--root', next]);
    writeFileSync(join(next, 'new.yaml'), text.replaceAll('203.0.113.0/24', '0.0.0.0/0'));
    const { exitCode, result } = await other.call('diff', { old: 'edge.yaml', new: join(next, 'new.yaml') });
    expect(exitCode).toBe(5);
    expect(JSON.stringify(result)).toContain('witness');
    await other.close();
  });

  // It measures for seconds; the verb has tests of its own.
  test.runIf(IS_FULL)('bench measures', async () => {
    expect(await resultOf('bench', { file: 'small.yaml' })).toMatchObject({
      rows: expect.any(Array) as unknown[],
    });
  });

  test('a value that looks like an option is a value', async () => {
    const { problem } = await own.call('explain_code', { code: '--help' });
    expect(problem).toContain("'--help'");
  });

  test('explain_code explains; format formats', async () => {
    expect(await resultOf('explain_code', { code: 'edge.unknown_key' })).toMatchObject({
      code: 'edge.unknown_key',
    });
    const policy = 'on_http_request:\n    - actions:\n          - type: deny\n';
    expect(await resultOf('format', { text: policy })).toEqual({
      text: 'on_http_request:\n  - actions:\n      - type: deny\n',
    });
  });

  test('answers are short unless everything is asked for', async () => {
    const many = `edges:\n  https:\n${Array.from({ length: 200 }, (_each, index) => `    e${index}: { x: 1 }\n`).join('')}`;
    const short = await own.call('check', { text: many });
    expect(short.length).toBeLessThanOrEqual(2_048);
    expect(short.shortened).toContain('full');
    const full = await own.call('check', { text: many, detail: 'full' });
    expect((full.result as unknown as unknown[]).length).toBeGreaterThan(100);
    expect(full.shortened).toBeUndefined();
  });

  test('a call that is cancelled ends, and others go on', async () => {
    const controller = new AbortController();
    const call = own.client.callTool(
      { name: 'bench', arguments: { file: 'edge.yaml' } },
      { signal: controller.signal },
    );
    controller.abort();
    await expect(call).rejects.toThrow();
    expect(await own.call('explain_code', { code: 'edge.unknown_key' })).toMatchObject({ exitCode: 0 });
  });

  test('a call whose process ends early gets an error, and others go on', async () => {
    const call = own.call('bench', { file: 'edge.yaml' });
    const [child] = await vi.waitUntil(() => {
      const children = childrenOf(own.pid);
      return children.length > 0 && children;
    }, 20_000);
    process.kill(child!, 'SIGKILL');
    expect(await call).toMatchObject({ problem: expect.stringContaining('ended early') as string });
    expect(await own.call('explain_code', { code: 'edge.unknown_key' })).toMatchObject({ exitCode: 0 });
  });
});

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

test('resources are schemas and examples; prompts name the file', async () => {
  const { resources } = await own.client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('edgeproof://schema/edge.json');
  for (const { uri, mimeType } of resources) {
    const { contents } = await own.client.readResource({ uri });
    const [{ text }] = contents as unknown as [{ text: string }];
    expect(text.length).toBeGreaterThan(50);
    if (mimeType?.endsWith('json') === true) expect(() => JSON.parse(text) as unknown).not.toThrow();
  }
  const { prompts } = await own.client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(['harden_route', 'write_cases', 'explain_block']);
  for (const { name } of prompts) {
    const { messages } = await own.client.getPrompt({ name, arguments: { file: 'edge.yaml' } });
    expect(JSON.stringify(messages)).toContain('edge.yaml');
  }
});

describe('a hostile client', () => {
  const outside = () => {
    const secret = folderWith();
    writeFileSync(join(secret, 'secret.yaml'), 'token: swordfish\n');
    return secret;
  };

  test('reads nothing outside of the allowed folders, and nothing is written', async () => {
    const secret = outside();
    const inside = folderWith();
    mkdirSync(join(inside, 'sub'));
    symlinkSync(join(secret, 'secret.yaml'), join(inside, 'link.yaml'));
    symlinkSync(secret, join(inside, 'folder'));
    copyFileSync(join(FIXTURES, 'sample/edge.yaml'), join(inside, 'edge.yaml'));
    writeFileSync(join(inside, 'naming.yaml'), `include: ['folder/secret.yaml']\nedges: {}\n`);
    writeFileSync(
      join(inside, 'keyed.yaml'),
      `tls_certificates:\n  a: { certificate_file: ${secret}/secret.yaml, private_key_file: ${secret}/secret.yaml }\nedges: {}\n`,
    );
    const before = listed(inside);
    const hostile = await assistant(inside, [], [inside]);
    const paths = [
      join(secret, 'secret.yaml'),
      '../secret.yaml',
      `sub/../../${secret.split('/').at(-1)}/secret.yaml`,
      'link.yaml',
      'folder/secret.yaml',
      '/etc/passwd',
      '/proc/self/environ',
      '/dev/stdin',
      '..',
      '~/.ssh/id_rsa',
      'main:edge.yaml',
      'https://127.0.0.1:1/',
      'file:///etc/passwd',
      '--help',
      '--fix',
      '-',
      'edge.yaml\u0000.txt',
      'edge.yaml\n--fix',
      '\u001b[31m',
      'x'.repeat(5_000),
      '',
    ];
    // All tools find files in one way, so short runs give each path to one of them.
    const inputs: [string, object][] = paths.flatMap((path, index) => {
      const calls: [string, object][] = [
        ['check', { file: path }],
        ['diff', { old: path, new: 'edge.yaml' }],
        ['explain', { file: path, url: URL }],
      ];
      return IS_FULL ? calls : [calls[index % calls.length]!];
    });
    inputs.push(
      ['check', {}],
      ['check', { file: 'edge.yaml', text: 'x: 1' }],
      ['check', { text: 'x'.repeat(2_000_000) }],
      ['check', { file: null }],
      ['check', { file: ['edge.yaml'] }],
      ['explain', { file: 'edge.yaml', url: '--scenario=/etc/passwd' }],
      ['explain', { file: 'edge.yaml', url: URL, method: '--event' }],
      ['explain', { file: 'edge.yaml', url: URL, ip: '1 --scenario x' }],
      ['explain', { file: 'edge.yaml', url: URL, headers: { 'a\r\nb': 'c' } }],
      ['explain', { file: 'edge.yaml', url: URL, headers: { a: 'b\r\nc: d' } }],
      ['explain_code', { code: '--service-name=x' }],
      ['explain_code', { code: '__proto__' }],
      ['test', { paths: ['/'] }],
      ['test', { files: ['edge.scenario.yaml'] }],
      ['check', { file: 'edge.yaml', exakt: true }],
      ['cover', { paths: [secret] }],
      ['prove', { file: 'edge.yaml', properties: [join(secret, 'secret.yaml')] }],
      ['bench', { file: join(secret, 'secret.yaml') }],
    );
    expect(inputs.length).toBeGreaterThan(IS_FULL ? 50 : 30);
    for (const [tool, input] of inputs) {
      const answer = await hostile.call(tool, input).catch((error: unknown) => ({ problem: String(error) }));
      expect([tool, input, answer.problem ?? null]).toEqual([tool, input, expect.any(String)]);
      expect(JSON.stringify(answer)).not.toMatch(/swordfish|root:/);
    }
    for (const file of ['naming.yaml', 'keyed.yaml'])
      expect(JSON.stringify(await hostile.call('check', { file, detail: 'full' }))).not.toContain(
        'swordfish',
      );
    await hostile.close();
    expect(listed(inside)).toEqual(before);
  });

  test('a client that names no folder gets those of the command line; one that names only missing folders gets none', async () => {
    const none = await assistant(folder, [], []);
    expect(await none.call('check', { file: 'edge.yaml' })).toMatchObject({ exitCode: 0 });
    await none.close();
    const missing = await assistant(folder, [], [join(folder, 'missing')]);
    expect(await missing.call('check', { file: 'edge.yaml' })).toMatchObject({
      problem: expect.any(String) as string,
    });
    await missing.close();
  });

  test('members named __proto__ are nothing special', async () => {
    const input = JSON.parse('{"text":"edges: {}","__proto__":{"file":"/etc/passwd"}}') as object;
    expect(JSON.stringify(await own.call('check', input))).not.toContain('root:');
  });
});

/** Every file with its size and time. */
function listed(inside: string): string[] {
  return readdirSync(inside, { recursive: true, encoding: 'utf8' }).map((path) => {
    const { size, mtimeMs } = statSync(join(inside, path));
    return `${path} ${size} ${mtimeMs}`;
  });
}
