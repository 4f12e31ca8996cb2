import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const EDGE = 'edges: { https: {} }\n';
const hasPipes = process.platform === 'linux' && spawnSync('mkfifo', ['--version']).status === 0;

it.runIf(hasPipes)('a pipe in a folder is not waited for', async () => {
  const folder = folderWith({ 'edge.yaml': EDGE });
  for (const name of ['pipe.yaml', 'pipe.scenario.yaml']) spawnSync('mkfifo', [join(folder, name)]);
  expect((await edgeproof(['check', '.'], folder)).stdout).toContain('1 warning');
  expect((await edgeproof(['test'], folder)).code).toBe(77);
});

it('a link in a folder that leads nowhere is a file that cannot be read', async () => {
  const folder = folderWith({ 'edge.yaml': EDGE });
  symlinkSync('nowhere.yaml', join(folder, 'link.yaml'));
  const { code, stderr } = await edgeproof(['check', '.'], folder);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^cannot read link\.yaml: there is no such file/),
  ]);
});

it.skipIf(process.getuid?.() === 0)('a folder that cannot be listed is named once', async () => {
  const folder = folderWith({ 'edge.yaml': EDGE });
  const closed = join(folder, 'deep/closed');
  mkdirSync(closed, { recursive: true });
  chmodSync(closed, 0);
  const { code, stderr } = await edgeproof(['check', '.'], folder);
  rmSync(closed, { recursive: true });
  expect([code, stderr]).toEqual([
    2,
    'cannot list the folder deep/closed: permission denied; change the permissions, or run as a user who has them\n',
  ]);
});

const TOO_LARGE = 'it is larger than 256 MiB; use a smaller input';

// No string has more than 512 MiB, and Node reads no file of 2 GiB.
it.each([257, 700, 3_072])('a file of %d MiB is refused with a cure', async (mebibytes) => {
  const folder = folderWith({ 'huge.yaml': '' });
  truncateSync(join(folder, 'huge.yaml'), mebibytes * 2 ** 20);
  const { code, stderr } = await edgeproof(['check', 'huge.yaml'], folder);
  expect([code, stderr]).toEqual([2, `cannot read huge.yaml: ${TOO_LARGE}\n`]);
});

it.runIf(hasPipes)('standard input and pipes without an end are not read to it', () => {
  const folder = folderWith({});
  spawnSync('mkfifo', [join(folder, 'pipe.yaml')]);
  const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  const check = (script: string) =>
    spawnSync('sh', ['-c', script, process.execPath, program], { cwd: folder, encoding: 'utf8' }).stderr;
  expect(check('"$0" "$1" check - </dev/zero')).toBe(`cannot read standard input: ${TOO_LARGE}\n`);
  expect(check('cat /dev/zero >pipe.yaml & "$0" "$1" check pipe.yaml')).toContain(
    `cannot read pipe.yaml: ${TOO_LARGE}\n`,
  );
});

it.runIf(process.platform === 'linux')('a device without an end is not read', async () => {
  const { code, stderr } = await edgeproof(['check', '/dev/zero'], folderWith({}));
  expect([code, stderr]).toEqual([2, 'cannot read /dev/zero: it is a device; name a regular file\n']);
});

it('a folder without scenario files is named', async () => {
  const folder = folderWith({ 'deep/edge.yaml': EDGE });
  expect(await edgeproof(['test', 'deep'], folder)).toMatchObject({
    code: 77,
    stderr: expect.stringContaining('there is no file *.scenario.yaml in deep;'),
  });
  expect((await edgeproof(['test'], folder)).stderr).toContain('in this folder;');
});

it('of many findings in a file, the text has the first 100, and other reports have all', async () => {
  const routes = Array.from({ length: 150 }, (_, at) => `{ match_type: exact_path, match: /${at}, oops: 1 }`);
  const edge = `edges: { https: { a: { hostports: ['a.test:443'], routes: [${routes.join(', ')}] } } }\n`;
  const folder = folderWith({ 'edge.yaml': edge, 'small.yaml': 'edges: { https: {}, oops: 1 }\n' });
  const { stdout } = await edgeproof(['check', 'edge.yaml', 'small.yaml'], folder);
  expect(stdout.match(/^edge\.yaml:\d+:\d+ /gm)).toHaveLength(100);
  expect(stdout).toMatch(/^small\.yaml:1:/m);
  const json = await edgeproof(['check', '--reporter', 'json', 'edge.yaml'], folder);
  const all = (JSON.parse(json.stdout) as readonly unknown[]).length;
  expect(all).toBeGreaterThanOrEqual(150);
  expect(stdout).toContain(`\nedge.yaml: ${all - 100} more findings\n`);
  expect(stdout).toMatch(/\n1\d\d errors/);
});

it.runIf(hasPipes)('a pipe of the shell is read once, and is a file for all commands', () => {
  const folder = folderWith({
    'edge.yaml': 'edges: { https: { shop: { hostports: ["shop.test:443"], routes: [] } } }\n',
  });
  const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  const run = (script: string) =>
    spawnSync('sh', ['-c', `cat edge.yaml | "$0" "$1" ${script}`, process.execPath, program], {
      cwd: folder,
      encoding: 'utf8',
    });
  expect(run('explain https://shop.test/ -e /dev/stdin').stdout).toContain('404  route.no_match');
  expect(run('diff edge.yaml /dev/fd/0').stdout).toContain('PROVED EQUIVALENT');
});
