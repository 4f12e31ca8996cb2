import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
let folder: string;

/** What a user does: packs nothing, but installs the tarball in an empty folder. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-package-'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: root });
  const [tarball] = await readdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball!}`], {
    cwd: folder,
  });
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

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
