import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { IS_FULL } from './random.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/edgeproof');
const STAMP = join(CACHE, 'built_from');
/** Has the id of the process that builds or packs. */
const LOCK = join(CACHE, 'building.pid');

/**
 * Builds what runs unless it was built from the sources as they are now. Test files run in several processes: one builds, and
 * the others wait for it. Short runs leave out the declarations, which take half of the time of a build.
 */
export function ensureBuilt(): Promise<void> {
  return built(IS_FULL);
}

/**
 * The package as users install it: a tarball of what was built, which all tests of one build share. Packing takes
 * seconds.
 */
export async function packed(): Promise<string> {
  await built(true);
  const digest = digestOf([...sources(), 'README.md', 'LICENSE', ...filesOf('schema')]);
  const folder = join(CACHE, 'packed', digest.slice(0, 16));
  await exclusively(
    () => existsSync(folder),
    async () => {
      rmSync(join(CACHE, 'packed'), { recursive: true, force: true });
      const next = join(CACHE, 'packed', 'next');
      mkdirSync(next, { recursive: true });
      await run('npm', ['pack', '--ignore-scripts', '--pack-destination', next], { cwd: ROOT });
      renameSync(next, folder);
    },
  );
  return join(folder, readdirSync(folder)[0]!);
}

async function built(withTypes: boolean): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const digest = digestOf(sources());
  const whole = `${digest} with types`;
  await exclusively(
    () => isBuiltFrom(whole) || (!withTypes && isBuiltFrom(digest)),
    async () => {
      await run('npm', ['run', withTypes ? 'build' : 'build:program'], { cwd: ROOT });
      writeFileSync(STAMP, withTypes ? whole : digest);
    },
  );
}

/** Makes what is not there yet: one process makes it, and the others wait. */
async function exclusively(isMade: () => boolean, make: () => Promise<void>): Promise<void> {
  while (!isMade()) {
    if (!tookLock()) {
      await after(100);
      continue;
    }
    try {
      if (!isMade()) await make();
    } finally {
      rmSync(LOCK, { force: true });
    }
  }
}

function isBuiltFrom(state: string): boolean {
  try {
    return readFileSync(STAMP, 'utf8') === state && statSync(join(ROOT, 'dist/lib/main.cjs')).isFile();
  } catch {
    return false;
  }
}

function tookLock(): boolean {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isHeld()) rmSync(LOCK, { force: true });
    return false;
  }
}

/** Whether the process that took the lock runs: one that was killed leaves its lock. */
function isHeld(): boolean {
  try {
    // An empty file is one that is being written; 0 is this process's own group, which runs.
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

/** What the package is built from. */
function sources(): string[] {
  const settings = readdirSync(ROOT).filter((name) =>
    /^(?:package(?:-lock)?\.json|rolldown\..*\.ts|tsconfig.*\.json)$/.test(name),
  );
  return [...filesOf('src'), ...settings];
}

function filesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
    join(folder, path),
  );
}

function digestOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths.toSorted()) {
    const { size, mtimeMs } = statSync(join(ROOT, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
