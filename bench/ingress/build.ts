import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
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
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

const project = resolve(import.meta.dirname, '../..');
/** Where the sources without their types are; the command as it is shipped is in `dist`. */
const COMPILED = 'compiled';
/** What a build needs besides the sources. */
const TOP_LEVEL = /^(?:package\.json|tsconfig.*\.json|rolldown\..*\.ts)$/;
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
    return join(folder, COMPILED);
  }
  const part = `${folder}.${process.pid}`;
  mkdirSync(part, { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(part, 'node_modules'));
  cpSync(join(tree, 'src'), join(part, 'src'), { recursive: true });
  for (const name of readdirSync(tree).filter((each) => TOP_LEVEL.test(each)))
    copyFileSync(join(tree, name), join(part, name));
  compile(part);
  renameSync(part, folder);
  tidyUp(cache);
  return join(folder, COMPILED);
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

/** Distinguishes states of the sources, and clones: a build uses the packages of the clone that made it. */
function stateOf(tree: string): string {
  const hash = createHash('sha256').update(project);
  const files = readdirSync(join(tree, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const further = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'rolldown.config.ts'];
  for (const path of [...files.map((file) => join('src', file)).toSorted(), ...further])
    hash.update(`\n${path}\n`).update(readFileSync(join(tree, path)));
  return hash.digest('hex').slice(0, 16);
}

/** Every source as it is, without its types; the compiler does not check them, for that is not what is measured. */
function compile(folder: string): void {
  const tsc = join(project, 'node_modules/typescript/bin/tsc');
  const config = {
    extends: './tsconfig.build.json',
    compilerOptions: { outDir: COMPILED, declaration: false, emitDeclarationOnly: false, noCheck: true },
    include: ['src'],
  };
  writeFileSync(join(folder, 'tsconfig.bench.json'), JSON.stringify(config));
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.bench.json'], { cwd: folder, stdio: 'pipe' });
}

function tidyUp(cache: string): void {
  const byAge = readdirSync(cache)
    .map((name) => ({ path: join(cache, name), time: statSync(join(cache, name)).mtimeMs }))
    .toSorted((one, other) => other.time - one.time);
  for (const { path } of byAge.slice(KEPT)) rmSync(path, { recursive: true, force: true });
}

/** The command line as it is shipped, bundled into a few files; of sources the one that is not. */
export function commandLineOf(built: string): string {
  const source = join(built, 'cli/main.ts');
  if (existsSync(source)) return source;
  const folder = resolve(built, '..');
  const bundled = join(folder, 'dist/lib/main.cjs');
  if (!existsSync(bundled)) {
    // The second of its parts is the declarations, which no command reads.
    const config = "import all from './rolldown.config.ts';\nexport default all.toSpliced(1, 1);\n";
    writeFileSync(join(folder, 'rolldown.command.ts'), config);
    const rolldown = join(project, 'node_modules/rolldown/bin/cli.mjs');
    const args = [rolldown, '-c', 'rolldown.command.ts', '--log-level', 'warn'];
    execFileSync(process.execPath, args, { cwd: folder, stdio: 'pipe' });
  }
  return bundled;
}
