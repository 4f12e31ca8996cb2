import { type Dirent, type Stats, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { FileError, readBytes } from '../project_files/load_config.ts';
import { nameNear } from '../project_files/files_beside.ts';

const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage']);
/** Characters of patterns; a file whose name has them is still found by its name. */
const MAGIC = /[*?[\]{}()!]/;

/**
 * The files that paths on the command line name, sorted and without duplicates: a file is taken as it is, a folder
 * stands for the files below it that `isOurs` accepts, a pattern (`routes/**\/*.yaml`) for those that match it. Hidden
 * folders, `node_modules`, `dist` and `coverage` are skipped. Throws FileError.
 */
export async function namedFiles(
  paths: readonly string[],
  isOurs: (path: string) => boolean,
): Promise<string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    const stat = path === '-' ? undefined : statOf(path);
    const files =
      stat === undefined && MAGIC.test(path)
        ? await matching(path, isOurs)
        : stat?.isDirectory() === true
          ? below(path).filter(isOurs)
          : [path];
    for (const file of files) found.add(file);
    if (stat === undefined && files.length === 0) throw new FileError(noMatch(path));
  }
  return [...found].sort();
}

/** The files that match a pattern; folders that match stand for what is below them. */
async function matching(pattern: string, isOurs: (path: string) => boolean): Promise<string[]> {
  const { default: picomatch } = await import('picomatch');
  const normal = pattern.replace(/^\.\//, '');
  const { base } = picomatch.scan(normal);
  const matches = picomatch(normal);
  const folder = base === '' ? '.' : base;
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return below(folder).filter((file) => {
    if (matches(file)) return true;
    const parts = file.split('/');
    return isOurs(file) && parts.some((_, count) => count > 0 && matches(parts.slice(0, count).join('/')));
  });
}

function noMatch(path: string): string {
  return `no file matches '${path}'; correct the pattern, or put it in quotes if the shell changed it`;
}

function below(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) return [];
    const path = folder === '.' ? entry.name : join(folder, entry.name);
    if (entry.isDirectory()) return below(path);
    // Pipes, sockets and devices have no end, or none yet.
    return entry.isFile() || entry.isSymbolicLink() ? [path] : [];
  });
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new FileError(fileFailure('list the folder', folder, error));
  }
}

/** What is at a path: undefined for nothing, null if it cannot be reached, as over links in a circle. */
export function statOf(path: string): Stats | undefined | null {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return null;
  }
}

/** Throws FileError for a path that is neither a file nor a folder. */
export function mustExist(path: string): void {
  // Reading it says why it cannot be reached.
  if (path === '' || statOf(path) === null) readBytes(path);
  if (statOf(path) !== undefined) return;
  const near = nameNear(path);
  throw new FileError(
    `cannot read ${path}: there is no such file or folder; ${near ?? 'correct the name, or create it'}`,
  );
}
