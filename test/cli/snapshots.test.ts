import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { edgeproof } from './command.ts';

const EDGE = `ip_policies: { office: { rules: [{ cidr: 203.0.113.0/24, action: allow }] } }
backends: { app: { static: { address: '127.0.0.1:3000' } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]
  tcp:
    pg: { hostports: ['1.tcp.test:5432'], ip_restriction: { ip_policy_ids: [office] }, backend: { backend_id: app } }
`;

const CASES = `edge: edge.yaml
cases:
  - name: rows in braces {p}
    each: [{ p: /x }, { p: /y }]
    request: 'GET {p}'
    expect: snapshot
  - name: rows of lines
    each:
      - p: /x
        q: 1
      # kept
      - p: /y
        q: 2
    request: 'GET {p}?{q}'
    expect: snapshot # kept, too
  - name: combinations
    each:
      p: [/a, /b]
      m: [GET, POST]

    request: { method: '{m}', path: '{p}' }
    expect: snapshot
  - name: rows that end alike {q}
    each: [{ q: 1 }, { q: 2 }]
    request: /same?{q}
    expect: snapshot
  - name: steps
    timeline:
      - { send: { path: /, count: 3 }, expect: snapshot }
      - { send: GET /y, expect: snapshot }
  - name: a connection
    connect: 1.tcp.test:5432
    expect: snapshot
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-snapshots-'));
  await writeFile(join(folder, 'edge.yaml'), EDGE);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...args: string[]) => edgeproof(['test', ...args], folder);
const put = (name: string, text: string) => writeFile(join(folder, name), text);
const read = (name: string) => readFile(join(folder, name), 'utf8');

it('are shown, then filled in, in tables, timelines and connections; then they pass, and detect a change', async () => {
  await put('all.scenario.yaml', CASES);
  expect((await run('all.scenario.yaml')).stdout).toContain('12 failed, 0 passed');
  const { code, stdout } = await run('all.scenario.yaml', '--update');
  expect(code).toBe(0);
  expect(stdout).toMatch(/12 passed[^]*- expect: snapshot[^]*all\.scenario\.yaml is written\n$/);
  const text = await read('all.scenario.yaml');
  expect(text).toMatch(/\{ p: \/y, expected: \{ status: 200, upstream: \{ backend: app, path: \/y \}/);
  expect(text).toMatch(/ {6}- expected: \{.*\n {8}p: \/x\n {8}q: 1\n {6}# kept\n/);
  expect(text).toContain(`expect: "{expected}" # kept, too`);
  expect(text).toContain('expect: { counts: { "200": 3 } }');
  expect(text).toMatch(/expect: \{ connection: allowed, backend: app, because: upstream\.connected/);
  expect(text).not.toContain('snapshot');
  const after = await run('all.scenario.yaml');
  expect(after.stdout).toContain('12 passed');
  expect(after.stdout).toContain('rows of lines [p=/y, q=2]');
  await put('changed.scenario.yaml', text.replaceAll('path: /y }', 'path: /z }'));
  expect((await run('changed.scenario.yaml')).stdout).toContain('3 failed, 9 passed');
});

it('are filled in by threads and in JSON, and printed in addition to a report for programs', async () => {
  const cases = [{ name: 'a', each: { p: ['/x', '/y'] }, request: 'GET {p}', expect: 'snapshot' }];
  for (const name of ['a.scenario.json', 'b.scenario.json'])
    await put(name, JSON.stringify({ edge: 'edge.yaml', cases }));
  const files = ['a.scenario.json', 'b.scenario.json'];
  const { code, stdout, stderr } = await run(...files, '--jobs', '2', '--update', '-r', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ summary: { passed: 4 } });
  expect(stderr).toContain('b.scenario.json is written');
  expect((await run(...files)).stdout).toContain('4 passed');
});

it('are not filled in partially, nor in a program: exit code 1', async () => {
  await put('half.scenario.yaml', CASES.split('  - name: rows of lines')[0]!);
  const half = await run('half.scenario.yaml', '--update', '--filter', '/x');
  expect(half.stdout).toContain('only some rows of its table were run');
  expect(half.code).toBe(1);
  expect(await read('half.scenario.yaml')).toContain('expect: snapshot');
  const cases = [{ name: 'a', request: 'GET /', expect: 'snapshot' }];
  await put('p.scenario.ts', `export default ${JSON.stringify({ edge: './edge.yaml', cases })};`);
  expect(await run('p.scenario.ts', '--update')).toMatchObject({ code: 1 });
});
