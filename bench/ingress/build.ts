import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

const project = resolve(import.meta.dirname, '../..');
/** Number of builds that are kept; another run may still use an older one. */
const KEPT = 6;

/**
 * The folder of ours, built from a folder of the project as it is now; built once for each state of its sources, and
 * kept in the folder for temporary files. With `source` it is the sources.
 */
export function builtOf(tree = project, source = false): string {
  if (source) return join(resolve(tree), 'src');
  const cache = join(tmpdir(), `edgeproof-bench-${userInfo().uid}`);
  const folder = join(cache, stateOf(tree));
  if (existsSync(folder)) {
    utimesSync(folder, new Date(), new Date());
    return join(folder, 'dist');
  }
  const part = `${folder}.${process.pid}`;
  mkdirSync(part, { recursive: true });
  compile(tree, part);
  copyFileSync(join(tree, 'package.json'), join(part, 'package.json'));
  copyFileSync(join(tree, 'rolldown.config.ts'), join(part, 'rolldown.config.ts'));
  symlinkSync(join(project, 'node_modules'), join(part, 'node_modules'));
  renameSync(part, folder);
  tidyUp(cache);
  return join(folder, 'dist');
}

/** The folder of our build of a git revision. */
export function builtBefore(revision: string): string {
  const tree = mkdtempSync(join(tmpdir(), 'edgeproof-before-'));
  try {
    const parts = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'rolldown.config.ts'];
    const archive = execFileSync('git', ['archive', '--format=tar', revision, ...parts], {
      cwd: project,
      maxBuffer: 2 ** 28,
    });
    execFileSync('tar', ['-x', '-C', tree], { input: archive });
    symlinkSync(join(project, 'node_modules'), join(tree, 'node_modules'));
    return builtOf(tree);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Distinguishes states of the sources. */
function stateOf(tree: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(join(tree, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const further = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'rolldown.config.ts'];
  for (const path of [...files.map((file) => join('src', file)).toSorted(), ...further])
    hash.update(`\n${path}\n`).update(readFileSync(join(tree, path)));
  return hash.digest('hex').slice(0, 16);
}

/** The compiler writes its output in spite of type errors: the project may be in the middle of a change. */
function compile(tree: string, folder: string): void {
  const tsc = join(project, 'node_modules/typescript/bin/tsc');
  const dist = join(folder, 'dist');
  try {
    execFileSync(
      process.execPath,
      [
        tsc,
        '-p',
        'tsconfig.build.json',
        '--outDir',
        dist,
        '--declaration',
        'false',
        '--emitDeclarationOnly',
        'false',
      ],
      { cwd: tree, stdio: 'pipe' },
    );
  } catch (error) {
    if (!existsSync(join(dist, 'edgeproof.js'))) throw error;
    process.stderr.write('ours has errors of types; it is measured as it is\n');
  }
}

function tidyUp(cache: string): void {
  const byAge = readdirSync(cache)
    .map((name) => ({ path: join(cache, name), time: statSync(join(cache, name)).mtimeMs }))
    .toSorted((one, other) => other.time - one.time);
  for (const { path } of byAge.slice(KEPT)) rmSync(path, { recursive: true, force: true });
}

/** The command line as it is shipped, bundled into a few files; if that is impossible, unbundled. */
export function commandLineOf(built: string): string {
  const bundled = join(built, 'bin/main.js');
  const rolldown = join(project, 'node_modules/rolldown/bin/cli.mjs');
  try {
    if (!existsSync(bundled))
      execFileSync(process.execPath, [rolldown, '-c', 'rolldown.config.ts', '--log-level', 'warn'], {
        cwd: resolve(built, '..'),
        stdio: 'pipe',
      });
    return bundled;
  } catch {
    process.stderr.write('the command line does not bundle: its start is measured unbundled\n');
    return join(built, existsSync(join(built, 'cli/main.js')) ? 'cli/main.js' : 'cli/main.ts');
  }
}
