import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { kindOf } from '../../editors/vscode/src/kinds.ts';
import { programFor, run } from '../../editors/vscode/src/program.ts';
import { requestLine } from '../../editors/vscode/src/request_line.ts';
import { settingsOf } from '../../src/lsp/settings.ts';
import { ensureBuilt } from '../built.ts';
import { folderWith } from '../folder.ts';
import { skipped } from '../peers.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXTENSION = join(ROOT, 'editors/vscode');
const MAIN = join(ROOT, 'dist/lib/main.cjs');

const read = (name: string): string => readFileSync(join(EXTENSION, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  readonly version: string;
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly default: unknown }>> };
  };
};
const settings = manifest.contributes.configuration.properties;
const commands = manifest.contributes.commands.map(({ command }) => command);

describe('the manifest', () => {
  test('has the commands that the sources register, and the page names all settings', () => {
    const registered = [...read('src/commands.ts').matchAll(/^ {4}'(edgeproof\.\w+)':/gm)].map(
      ([, name]) => name,
    );
    expect(new Set(registered)).toEqual(new Set(commands));
    for (const name of Object.keys(settings)) expect(read('README.md')).toContain(`\`${name}\``);
  });

  test('has the settings of the language server with its defaults, and the version of the package', () => {
    const given = Object.entries(settings).map(([name, { default: value }]) => [name.split('.')[1], value]);
    expect(settingsOf(Object.fromEntries(given))).toEqual(settingsOf(undefined));
    const others = Object.keys(settingsOf(undefined)).filter((name) => name !== 'delayMs');
    expect(new Set(given.map(([name]) => name))).toEqual(new Set(['command', 'delay', ...others]));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(manifest.version).toBe(version);
  });
});

test.each([
  ['/a/edge.yaml', '', 'edge'],
  ['/a/shop.edge.yml', '', 'edge'],
  [String.raw`C:\a\shop.scenario.json`, '', 'scenario'],
  ['/a/rules.policy.yaml', '', 'policy'],
  ['/a/ops.property.yaml', '', 'property'],
  [
    '/a/values.yaml',
    '# yaml-language-server: $schema=../node_modules/edgeproof/schema/policy.json\n',
    'policy',
  ],
  ['/a/edge.yaml', '# yaml-language-server: $schema=./schema/scenario.json\nedge: x\n', 'scenario'],
  ['/a/x.json', '{\n  "$schema": "https://x.test/edge.json"', 'edge'],
  ['/a/knowledge.yaml', '', null],
  ['/a/edge.yaml.txt', '', null],
  ['/a/x.yaml', '# yaml-language-server: $schema=./knowledge.json\n', null],
] as const)('%s %j is of kind %s', (path, text, kind) => {
  expect(kindOf(path, text)).toBe(kind);
});

test('a request is written on one line', () => {
  expect(requestLine('https://shop.test/')).toEqual(['GET', 'https://shop.test/']);
  expect(requestLine('post https://a.test/x?y=1 from 2001:db8::1 user-agent: a b, x-y: 1')).toEqual([
    'POST',
    'https://a.test/x?y=1',
    '--ip',
    '2001:db8::1',
    '--header',
    'user-agent: a b',
    '--header',
    'x-y: 1',
  ]);
  for (const bad of [
    '',
    'GET',
    'GET /admin',
    'GET ftp://a.test',
    'GET https://a.test nonsense',
    '--edge https://a.test/',
  ])
    expect(requestLine(bad)).toBeNull();
});

test('the program is that of the settings, of the project, or of the path; what cannot be started is a problem', async () => {
  const folder = folderWith();
  expect(programFor(folder, ['deno', 'x'], '')).toEqual({ command: 'deno', args: ['x'] });
  expect(programFor(folder, [], '')).toBeNull();
  const bin = folderWith();
  writeFileSync(join(bin, 'edgeproof'), '');
  expect(programFor(folder, [], ['/nowhere', bin].join(delimiter))).toEqual({
    command: join(bin, 'edgeproof'),
    args: [],
  });
  const main = join(folder, 'node_modules/edgeproof/dist/lib/main.cjs');
  mkdirSync(join(main, '..'), { recursive: true });
  writeFileSync(main, '');
  expect(programFor(folder, [], bin)).toEqual({ command: 'node', args: [main] });
  expect(await run({ command: join(folder, 'missing'), args: [] }, [], folder)).toMatchObject({
    code: null,
    problems: expect.stringContaining('cannot be started') as string,
  });
});

const isInstalled = existsSync(join(EXTENSION, 'node_modules/vscode-languageclient'));
if (!isInstalled)
  skipped('the extension for VS Code, packed', 'its libraries are not installed (npm run peers)');

describe.runIf(isInstalled)('packed', () => {
  const inFolder = (...line: readonly string[]): string =>
    execFileSync('npm', ['--prefix', EXTENSION, ...line], {
      cwd: EXTENSION,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  beforeAll(async () => {
    await ensureBuilt();
    inFolder('run', 'check');
    inFolder('run', 'package');
  }, 240_000);

  test('is one small file with nothing but what it needs', () => {
    const { size } = statSync(join(EXTENSION, 'dist/edgeproof.vsix'));
    expect(size).toBeGreaterThan(50_000);
    expect(size).toBeLessThan(200_000);
    const files = inFolder('exec', '--', 'vsce', 'ls', '--no-dependencies').split('\n');
    expect(files.filter((each) => /^[\w./]+$/.test(each)).toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/extension.cjs',
      'media/icon.png',
      'package.json',
    ]);
  });

  // VS Code itself is downloaded by its test tools, so this host is a stub; the server and the command line are real.
  test('starts the server, runs, covers and watches tests, and its commands work', () => {
    const folder = folderWith();
    for (const name of readdirSync(join(ROOT, 'fixtures/repairs')))
      if (name !== 'mistakes.yaml') copyFileSync(join(ROOT, 'fixtures/repairs', name), join(folder, name));
    const host = join(import.meta.dirname, 'vscode_host.cjs');
    const line = [host, join(EXTENSION, 'dist/extension.cjs'), folder, process.execPath, MAIN];
    const { stdout, stderr, status } = spawnSync(process.execPath, line, {
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { commands: registered, explained, ...report } = JSON.parse(stdout) as Record<string, unknown>;
    expect(registered).toEqual(expect.arrayContaining(commands));
    expect(explained).toContain('no allow rule contains the client address');
    const names = [
      ['the office reaches the back office', 5],
      ['strangers do not', 8],
      ['a failing backend is left alone', 13],
      ['the status page needs no login', 19],
    ] as const;
    const file = 'shop.scenario.yaml';
    expect(report).toEqual({
      finding: {
        code: 'edge.unknown_key',
        line: 33,
        message: expect.stringContaining("did you mean 'ip_restriction'?") as string,
      },
      status: { text: '$(alert) edge: 1', visible: true },
      files: [file],
      cases: names,
      passed: [
        `enqueued ${file}`,
        `started ${file}`,
        ...names.map(([name]) => `passed ${name}`),
        `passed ${file}`,
      ],
      one: [`enqueued ${file}`, `started ${file}`, 'passed strangers do not'],
      coverage: [
        {
          file: 'edge.yaml',
          covered: expect.any(Number) as number,
          total: expect.any(Number) as number,
          details: expect.any(Number) as number,
        },
      ],
      failed: {
        label: 'a failing backend is left alone',
        message: expect.stringMatching(
          /^status: expected 500, received 502\ndecided by upstream: /,
        ) as string,
        line: 18,
        expected: '500',
      },
      errored: "unknown key 'nam' in item 5 of 'cases': did you mean 'name'? (scenario.unknown_key)",
      runsAfterWatch: 1,
      decided: '200 → admin: the upstream responded (upstream.answered)',
      folder: { message: 'Findings: 2. Files with findings: 1.', files: ['wrong.edge.yaml'] },
      inspector: { address: 'http://127.0.0.1:…', status: 200 },
      stopped: 'gone',
      restarted: '$(check) edge',
      left: [],
    });
    const [{ covered, total, details }] = report['coverage'] as [Record<string, number>];
    expect(covered).toBeGreaterThan(5);
    expect(total).toBeGreaterThan(covered!);
    expect(details).toBe(total);
  });
});
