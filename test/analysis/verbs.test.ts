import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { edgeproof } from '../cli/command.ts';
import { folderWith } from '../folder.ts';
import { hasProgram } from '../peers.ts';

const edge = (match: string): string => `
ip_policies: {office: {rules: [{cidr: 10.0.0.0/8, action: allow}]}}
backends: {app: {static: {address: "localhost:3000"}}}
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      routes:
        - {match_type: path_prefix, match: /, backend: {backend_id: app}}
        - {match_type: path_prefix, match: ${match}, backend: {backend_id: app}, ip_restriction: {ip_policy_ids: [office]}}
`;

const property = (where: string): string =>
  `properties: [{name: strangers, where: "${where}", never: {end: forwarded, backend: app}}]\n`;

const folder = folderWith({
  'old.yaml': edge('/admin'),
  'new.yaml': edge('/health'),
  'broken.yaml': 'edges: 1\n',
  'refuted.yaml': property("req.url.path.startsWith('/')"),
  'proved.yaml': property("req.url.path == '/admin' && !inCidrRange(conn.client_ip, '10.0.0.0/8')"),
  'wrong.yaml': 'properties: [{name: x, never: {end: nothing}}]\n',
  'dead.yaml': edge('/admin').replace('action: allow', 'action: deny'),
});

test('diff: verdicts, reporters and exit codes', { timeout: 60_000 }, async () => {
  const [same, other, json, broken, missing] = await Promise.all([
    edgeproof(['diff', 'old.yaml', 'old.yaml'], folder),
    edgeproof(['diff', 'old.yaml', 'new.yaml', '-r', 'markdown'], folder),
    edgeproof(['diff', 'old.yaml', 'new.yaml', '-r', 'json'], folder),
    edgeproof(['diff', 'old.yaml', 'broken.yaml'], folder),
    edgeproof(['diff', 'main:old.yaml', 'old.yaml'], folder),
  ]);
  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^PROVED EQUIVALENT: 2 classes/) });
  expect(other).toMatchObject({
    code: 5,
    stdout: expect.stringContaining('**OPENED** `shop.test/admin…`'),
  });
  expect(JSON.parse(json.stdout)).toMatchObject({
    verdict: 'different',
    changes: [
      { change: 'OPENED', before: { status: 403, place: { file: 'old.yaml' } }, after: { status: 200 } },
      { change: 'CLOSED' },
    ],
  });
  expect(broken.code).toBe(3);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('main:old.yaml') });
});

test.skipIf(!hasProgram('git', ['--version'], 'diff of git revisions'))(
  'diff reads a file of a git revision',
  { timeout: 60_000 },
  async () => {
    const own = folderWith({ 'edge.yaml': edge('/admin') });
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], {
        cwd: own,
        stdio: 'ignore',
      });
    git('init', '-b', 'main');
    git('add', '.');
    git('commit', '-m', 'first');
    writeFileSync(join(own, 'edge.yaml'), edge('/health'));
    const { code, stdout } = await edgeproof(['diff', 'main:edge.yaml', 'edge.yaml'], own);
    expect(code).toBe(5);
    expect(stdout).toContain('was     main:edge.yaml:10:');
  },
);

test('prove, classes and check --exact', { timeout: 60_000 }, async () => {
  const [refuted, proved, wrong, classes, dead, fine] = await Promise.all([
    edgeproof(['prove', 'old.yaml', '--properties', 'refuted.yaml'], folder),
    edgeproof(['prove', 'old.yaml', '--properties', 'proved.yaml'], folder),
    edgeproof(['prove', 'old.yaml', '--properties', 'wrong.yaml'], folder),
    edgeproof(['classes', 'old.yaml'], folder),
    edgeproof(['check', '--exact', 'dead.yaml'], folder),
    edgeproof(['check', '--exact', 'old.yaml'], folder),
  ]);
  expect(refuted).toMatchObject({
    code: 6,
    stdout: expect.stringMatching(/^REFUTED {3}strangers\n[^]*200 from app/),
  });
  expect(proved).toMatchObject({ code: 0, stdout: expect.stringMatching(/^PROVED {4}strangers/) });
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('wrong.yaml:1:') });
  expect(classes.stdout).toContain('  → denied by ip_restriction');
  expect(dead).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/dead\.yaml:10:\d+ warning analysis\.blocks_all/),
  });
  expect(fine.stdout).toContain('no problems found');
});

test(
  'mutate: survivors have a request that kills them, equivalent mistakes are left out',
  { timeout: 60_000 },
  async () => {
    const [stranger, office] = [
      '{name: strangers, request: {url: "https://shop.test/admin", ip: 203.0.113.9}, expect: {status: 403}}',
      '{name: office, request: {url: "https://shop.test/admin", ip: 10.0.0.1}, expect: {status: 200}}',
    ];
    const own = folderWith({
      'edge.yaml': edge('/admin'),
      'shop.scenario.yaml': `edge: ./edge.yaml\ncases: [${stranger}, ${office}]\n`,
      'wrong.scenario.yaml': `edge: ./edge.yaml\ncases: [${stranger.replace('403', '404')}]\n`,
    });
    const [text, json, wrong] = await Promise.all([
      edgeproof(['mutate', 'shop.scenario.yaml', '--threshold', '90'], own),
      edgeproof(['mutate', 'shop.scenario.yaml', '-r', 'json'], own),
      edgeproof(['mutate', 'wrong.scenario.yaml'], own),
    ]);
    expect(text).toMatchObject({
      code: 8,
      stdout: expect.stringContaining("'10.0.0.0/9' instead of '10.0.0.0/8'"),
    });
    expect(text.stdout).toContain('try curl https://shop.test/admin from 10.128.0.0');
    const { killed, equivalent, survivors } = JSON.parse(json.stdout) as {
      readonly killed: number;
      readonly equivalent: number;
      readonly survivors: readonly { readonly verdict: string }[];
    };
    expect([killed, equivalent, survivors.length].every((count) => count > 0)).toBe(true);
    expect(survivors.filter(({ verdict }) => verdict === 'equivalent')).toEqual([]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('fails without a mistake') });
  },
);

test('mutate: each survivor has a place, also for a default, and a line for its mistake', async () => {
  const own = folderWith({
    'edge.yaml': `backends: { ok: { http_response: { status_code: 200, body: "ok\\n" } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - { match_type: path_prefix, match: /, circuit_breaker: {}, backend: { backend_id: ok } }
`,
    'shop.scenario.yaml':
      'edge: edge.yaml\ncases:\n  - { name: a, request: GET /, expect: { status: 200 } }\n',
  });
  const { stdout } = await edgeproof(['mutate', 'shop.scenario.yaml'], own);
  expect(stdout).toContain("http_response/body is 'ok' instead of 'ok␊'\n");
  expect(stdout).toContain('circuit_breaker/volume_threshold');
  const places = stdout.split('\n').filter((line) => line.startsWith('survives'));
  expect(places.filter((line) => !/^survives {2}edge\.yaml:\d+:\d+ /.test(line))).toEqual([]);
});

test('classes: a table, the same bytes however the keys are sorted', { timeout: 60_000 }, async () => {
  const text = edge('/admin');
  const config = parse(text) as Readonly<Record<string, unknown>>;
  const own = folderWith({ 'edge.yaml': text, 'turned.json': JSON.stringify(turned(config)) });
  const [table, again, other, json, plain, wrong] = await Promise.all([
    edgeproof(['classes', 'edge.yaml', '-r', 'markdown'], own),
    edgeproof(['classes', 'edge.yaml', '-r', 'markdown'], own),
    edgeproof(['classes', 'turned.json', '-r', 'markdown'], own),
    edgeproof(['classes', 'edge.yaml', '-r', 'json'], own),
    edgeproof(['classes', 'edge.yaml'], own),
    edgeproof(['classes', 'edge.yaml', '-r', 'html'], own),
  ]);
  expect(table.code).toBe(0);
  expect(again.stdout).toBe(table.stdout);
  expect(other.stdout).toBe(table.stdout);
  const rows = table.stdout.trimEnd().split('\n').slice(2);
  expect(rows).toHaveLength((JSON.parse(json.stdout) as readonly object[]).length);
  expect(rows.every((row) => /^\| `[^|]+` \| [^|]* \| `[^|]+` \|$/.test(row))).toBe(true);
  expect(rows.join('\n')).toContain('`denied by ip_restriction, status 403`');
  expect(plain.stdout).toContain('  → denied by ip_restriction, status 403');
  expect(wrong.code).toBe(2);
});

/** The same value with the keys of all maps in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, each]) => [key, turned(each)]),
  );
}
