import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { packed } from '../built.ts';
import { folderWith } from '../folder.ts';
import { hasLibrariesFor, requirePeer } from '../peers.ts';
import { IS_FULL } from '../random.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const peer = (program: string) => join(root, 'peers/node_modules/.bin', program);

interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly timestamp?: string; readonly component: { readonly purl: string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly purl: string;
    readonly hashes?: readonly object[];
    readonly licenses?: readonly object[];
  }[];
}

describe('the bill of materials', () => {
  const sbom = async (variables: Readonly<Record<string, string>> = {}): Promise<Bom> => {
    const env = { ...process.env, ...variables };
    const { stdout } = await run(process.execPath, ['packaging/sbom.ts'], { cwd: root, env });
    return JSON.parse(stdout) as Bom;
  };
  let first: Promise<Bom>;
  beforeAll(async () => {
    await packed();
    first = sbom();
    await first;
  });

  it('has the packages that users install and those in the bundle, with version, hash and licence', async () => {
    const { bomFormat, components, metadata } = await first;
    expect(bomFormat).toBe('CycloneDX');
    expect(metadata.component.purl).toMatch(/^pkg:npm\/edgeproof@/);
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string; dev?: true; peer?: true; optional?: true }>;
    };
    const refs = new Set(components.map((each) => each['bom-ref']));
    for (const [path, { version, dev, peer: isPeer, optional }] of Object.entries(lock.packages)) {
      if (path === '' || dev || isPeer || optional) continue;
      expect(refs).toContain(`${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);
    }
    for (const name of ['commander', 'hono', 'yaml', 're2js'])
      expect([...refs].some((ref) => ref.startsWith(`${name}@`))).toBe(true);
    expect([...refs].filter((ref) => /^(?:vitest|rolldown|typescript)@/.test(ref))).toEqual([]);
    for (const { purl, hashes, licenses } of components) {
      expect(purl).toMatch(/^pkg:npm\/.+@\d/);
      expect(hashes).toHaveLength(1);
      expect(licenses?.length).toBeGreaterThan(0);
    }
  });

  it('is the same each time, with the date of SOURCE_DATE_EPOCH', async () => {
    const [one, other, dated] = await Promise.all([first, sbom(), sbom({ SOURCE_DATE_EPOCH: '86400' })]);
    expect(one).toEqual(other);
    expect(one.metadata.timestamp).toBeUndefined();
    expect(dated.metadata.timestamp).toBe('1970-01-02T00:00:00.000Z');
  });
});

it.each(['--version', '-V'])(
  '%s loads next to nothing, so that it takes little longer than Node itself',
  async (option) => {
    await packed();
    const folder = folderWith({
      'list.cjs': `process.once('exit', () => {
      for (const file of Object.keys(require.cache)) if (file !== __filename) console.log(file);
    });`,
    });
    const main = join(root, 'dist/lib/main.cjs');
    const { stdout } = await run(process.execPath, ['--require', join(folder, 'list.cjs'), main, option]);
    const [version, ...files] = stdout.trim().split('\n');
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(files).toContain(main);
    const sizes = await Promise.all(files.map(async (file) => (await readFile(file)).length));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(14_000);
  },
);

/** Two folders with the sources build the package, which takes half a minute. */
it.skipIf(!IS_FULL)('two builds in two folders give the same tarball', async () => {
  const tarballs = await Promise.all(
    ['one', 'another'].map(async (name) => {
      const folder = join(folderWith(), name);
      await mkdir(folder);
      for (const path of await readdir(root))
        if (/^(?:src|schema|LICENSE|(?:package|tsconfig|rolldown).*|.*\.md)$/.test(path))
          await cp(join(root, path), join(folder, path), { recursive: true });
      await mkdir(join(folder, 'node_modules'));
      // A cache of its own: the build writes there.
      for (const path of await readdir(join(root, 'node_modules')))
        if (path !== '.cache')
          await symlink(join(root, 'node_modules', path), join(folder, 'node_modules', path));
      await run('npm', ['pack'], { cwd: folder });
      const tarball = (await readdir(folder)).find((path) => path.endsWith('.tgz'))!;
      return createHash('sha256')
        .update(await readFile(join(folder, tarball)))
        .digest('hex');
    }),
  );
  expect(tarballs[0]).toBe(tarballs[1]);
});

describe.skipIf(!hasLibrariesFor('linters of what is published'))('linters of what is published', () => {
  it('publint finds nothing', async () => {
    const { stdout } = await run(peer('publint'), ['run', await packed(), '--strict']);
    expect(stdout).toContain('All good!');
  });

  // `edgeproof/vitest` extends types of a package of modules only, so its own are those of a module.
  it('the types are those of the files, as attw sees it', async () => {
    const args = ['--profile', 'node16', '--exclude-entrypoints', 'vitest', '--no-color', '--no-emoji'];
    const { stdout } = await run(peer('attw'), [await packed(), ...args]);
    expect(stdout).toMatch(/"edgeproof\/cel" +│ OK \(CJS\)/);
  });

  it('the Dockerfile has no problem', async () => {
    const { validate } = requirePeer('dockerfile-utils') as {
      validate: (text: string) => readonly { readonly message: string }[];
    };
    const text = await readFile(join(root, 'Dockerfile'), 'utf8');
    expect(validate(text).map(({ message }) => message)).toEqual([]);
    expect(validate(text.replace('USER node', 'USR node'))).toHaveLength(1);
  });

  it('the action follows the schema of actions', async () => {
    const { validateAction } = requirePeer('@action-validator/core') as {
      validateAction: (text: string) => { readonly errors: readonly object[] };
    };
    const text = await readFile(join(root, 'action.yml'), 'utf8');
    expect(validateAction(text).errors).toEqual([]);
    expect(validateAction(text.replace('shell: bash', 'shel: bash')).errors).not.toEqual([]);
  });
});

describe('the image', () => {
  it('has a pinned base, no root user, a health check and only the tarball as context', async () => {
    const text = await readFile(join(root, 'Dockerfile'), 'utf8');
    const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      devDependencies: { node: string };
    };
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base!);
    expect(new Set(bases)).toEqual(new Set([`node:${devDependencies.node}-bookworm-slim`]));
    const instructions = text.split('\n').map((line) => line.split(' ')[0]);
    expect(instructions.lastIndexOf('USER')).toBeGreaterThan(instructions.lastIndexOf('FROM'));
    expect(text).toMatch(/^USER (?!root|0)/m);
    expect(text).toMatch(/^HEALTHCHECK /m);
    const ignored = await readFile(join(root, '.dockerignore'), 'utf8');
    expect(ignored.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
      '*',
      '!*.tgz',
    ]);
  });
});
