import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/edgeproof');
const STAMP = join(CACHE, 'built_from');
const LOCK = join(CACHE, 'building');
/** A build takes seconds; a lock that is older was left by a run that was killed. */
const LONGEST_BUILD_MS = 180_000;

/**
 * Builds the package unless it was built from the sources as they are now. Test files run in several processes: one
 * builds, and the others wait for it.
 */
export async function ensureBuilt(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const digest = digestOfSources();
  while (!isBuiltFrom(digest)) {
    if (!tookLock()) {
      await after(100);
      continue;
    }
    try {
      if (!isBuiltFrom(digest)) await promisify(execFile)('npm', ['run', 'build'], { cwd: ROOT });
      writeFileSync(STAMP, digest);
    } finally {
      rmdirSync(LOCK);
    }
  }
}

function isBuiltFrom(digest: string): boolean {
  try {
    return readFileSync(STAMP, 'utf8') === digest && statSync(join(ROOT, 'dist/lib/main.cjs')).isFile();
  } catch {
    return false;
  }
}

function tookLock(): boolean {
  try {
    mkdirSync(LOCK);
    return true;
  } catch {
    const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LONGEST_BUILD_MS) rmdirSync(LOCK);
    return false;
  }
}

function digestOfSources(): string {
  const hash = createHash('sha256');
  const paths = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => join('src', path))
    .concat(
      'package.json',
      'package-lock.json',
      'rolldown.config.ts',
      'rolldown.pages.ts',
      'rolldown.licenses.ts',
      'tsconfig.json',
      'tsconfig.build.json',
    )
    .toSorted();
  for (const path of paths) {
    const { size, mtimeMs } = statSync(join(ROOT, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
