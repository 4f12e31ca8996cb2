import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { ended } from '../program.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
let folder: string;

/** What a user does: installs the tarball in an empty folder. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-package-'));
  await ensureBuilt();
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const [tarball] = await readdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball!}`], {
    cwd: folder,
  });
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const EDGE = `
backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - { match_type: path_prefix, match: /shop, backend: { backend_id: app } }
`;
const scenario = (path: string, status: number) => `
edge: ./edge.yaml
cases:
  - { name: 'asks for ${path}', request: ${path}, expect: { status: ${status} } }
`;

const inFolder = (program: string, args: readonly string[]) => ended(program, args, folder);

const edgeproof = (...args: readonly string[]) =>
  inFolder(join(bin, 'node'), [join(folder, 'node_modules/edgeproof/dist/lib/main.cjs'), ...args]);

describe('scenarios from the packed tarball', () => {
  beforeAll(async () => {
    await writeFile(join(folder, 'edge.yaml'), EDGE);
    await writeFile(join(folder, 'a.scenario.yaml'), scenario('/shop/1', 200));
    await writeFile(join(folder, 'b.scenario.yaml'), scenario('/', 404));
    // The runner is the user's own.
    await symlink(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'));
  });

  it('runs cases, on threads too, and tells what they cover', async () => {
    const [alone, together] = [await edgeproof('test'), await edgeproof('test', '--jobs', '2', '-r', 'tap')];
    expect(alone).toMatchObject({ code: 0, out: expect.stringContaining('2 passed') as string });
    expect(together).toMatchObject({ code: 0, out: expect.stringContaining('1..2') as string });
    const covered = await edgeproof('cover');
    expect(covered.out).toMatch(/routes/);
    expect(covered.code).toBe(0);
  });

  it('fails with a case that fails, on a thread too', async () => {
    await writeFile(join(folder, 'bad.scenario.yaml'), scenario('/', 200));
    const { code, out } = await edgeproof('test', '--jobs', '3');
    await rm(join(folder, 'bad.scenario.yaml'));
    expect(out).toContain('1 failed, 2 passed');
    expect(code).toBe(1);
  });

  it('replays a log on threads', async () => {
    expect((await edgeproof('test', '--events', 'log.ndjson')).code).toBe(0);
    const args = ['replay', 'log.ndjson', '-e', 'edge.yaml', '--against', 'edge.yaml'];
    const [alone, together] = [await edgeproof(...args), await edgeproof(...args, '--jobs', '2')];
    expect(alone.out).toContain('2 records: 0 changed');
    expect(together).toEqual(alone);
  });

  it('registers cases with node:test', async () => {
    await writeFile(
      join(folder, 'shop.mjs'),
      `import { describe, it } from 'node:test';
       import { scenarioTests } from 'edgeproof/node-test';
       await scenarioTests('a.scenario.yaml', { describe, it });`,
    );
    const { code, out } = await inFolder(join(bin, 'node'), ['--test', '--test-reporter', 'tap', 'shop.mjs']);
    expect(out).toContain('# pass 1');
    expect(code).toBe(0);
  });

  it('registers cases with Vitest, and adds its matchers', async () => {
    await writeFile(
      join(folder, 'shop.test.ts'),
      `import { createEdge } from 'edgeproof';
       import { edgeMatchers, scenarioTests } from 'edgeproof/vitest';
       import { describe, expect, it } from 'vitest';
       expect.extend(edgeMatchers);
       await scenarioTests('a.scenario.yaml', { describe, it });
       it('has matchers', () => {
         const edge = createEdge({ edges: { https: { a: { hostports: ['a.test:443'], routes: [] } } } });
         expect(edge.decide({ url: 'https://a.test/' })).toHaveStatus(404);
         expect(edge.decide({ url: 'https://a.test/' })).not.toReachBackend();
       });`,
    );
    const { code, out } = await inFolder(join(bin, 'node'), [join(bin, 'vitest'), 'run', '--root', folder]);
    expect(out).toMatch(/Tests\s+2 passed/);
    expect(code).toBe(0);
  });

  it('types the matchers', async () => {
    await writeFile(
      join(folder, 'matchers.ts'),
      `import 'edgeproof/vitest';
       import { expect } from 'vitest';
       expect({}).toBeDeniedBy('ip_restriction');
       // @ts-expect-error a status is a number
       expect({}).toHaveStatus('404');`,
    );
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
    const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
    expect(await inFolder(join(bin, 'tsc'), [...options, ...types, 'matchers.ts'])).toEqual({
      code: 0,
      out: '',
    });
  });
});

describe('the packed tarball', () => {
  it('runs its command', async () => {
    const { stdout } = await run('npx', ['--no-install', 'edgeproof', '--version'], { cwd: folder });
    expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('decides as a library', async () => {
    await writeFile(
      join(folder, 'use.mjs'),
      `import { createEdge } from 'edgeproof';
       const edge = createEdge({ edges: { https: { a: { hostports: ['a.test:443'], routes: [] } } } });
       console.log(edge.decide({ url: 'https://a.test/' }).status);`,
    );
    const { stdout } = await run(join(bin, 'node'), ['use.mjs'], { cwd: folder });
    expect(stdout.trim()).toBe('404');
  });

  it('is typed, with nothing skipped', async () => {
    await writeFile(
      join(folder, 'use.ts'),
      `import { createEdge, type Decision } from 'edgeproof';
       export const decision: Decision = createEdge({}).decide({ url: 'https://a.test/' });
       // @ts-expect-error a status is a number
       export const status: string = decision.status;`,
    );
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--module',
      'nodenext',
      '--target',
      'es2024',
    ];
    const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
    const checked = await run(join(bin, 'tsc'), [...options, ...types, 'use.ts'], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    expect(checked.stdout).toBe('');
  });

  it('carries the JSON Schemas for editors', async () => {
    expect(await readdir(join(folder, 'node_modules/edgeproof/schema'))).toContain('edge.json');
  });
});
