import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import type { Source } from '../diagnostics/diagnostic.ts';
import { failureText } from '../diagnostics/system_failure.ts';
import { besideName, nameNear } from './files_beside.ts';

/** Why a file that another one names cannot be used. */
interface Unreadable {
  readonly problem: string;
  readonly hint?: string | undefined;
  readonly isMissing: boolean;
}

/** What the files of a project may name: other files, and variables of the environment. */
export interface NamedFiles {
  /** The name of a file that another one names; the same for every way to write it. */
  readonly nameOf: (from: string, named: string) => string;
  readonly read: (name: string) => Source | Unreadable;
  /** The files that match a pattern beside a file, in alphabetical order. */
  readonly matches: (from: string, pattern: string) => readonly string[];
  /** A path as `from` has it, as `root` would write it. */
  readonly movedTo: (root: string, from: string, path: string) => string;
  readonly variable: (name: string) => string | undefined;
}

/** Further folders from which files may be read, in the form of PATH. */
const FOLDERS_VARIABLE = 'EDGEPROOF_FILES';

/** Files on this disk, below the folder of the project. */
export function filesOnDisk(root: string, environment: NodeJS.ProcessEnv = process.env): NamedFiles {
  const folders = allowedFolders(root, environment);
  return {
    nameOf: besideName,
    read: (name) => readBelow(name, folders),
    matches: (from, pattern) =>
      globSync(pattern, { cwd: dirname(from) })
        .map((path) => besideName(from, path))
        .filter((name) => name !== besideName(from, resolve(from)))
        .sort(),
    movedTo: (rootFile, from, path) =>
      dirname(rootFile) === dirname(from) ? path : relative(dirname(rootFile), resolve(dirname(from), path)),
    variable: (name) => environment[name],
  };
}

/** Reads a file that is in one of the folders, also after its links are followed. */
export function readBelow(name: string, folders: readonly string[]): Source | Unreadable {
  try {
    const path = realpathSync(name);
    if (!folders.some((folder) => isBelow(path, folder))) {
      const problem = `cannot read ${name}: it is outside of the project (${relative('.', folders[0]!) || '.'})`;
      return { problem, hint: `allow its folder with ${FOLDERS_VARIABLE}`, isMissing: false };
    }
    const text = readFileSync(path, 'utf8');
    if (!/[\uFFFD\0]/.test(text)) return { name, text };
    return { problem: `cannot read ${name}: it is not a text in UTF-8`, isMissing: false };
  } catch (error) {
    const reason = failureText(error);
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return { problem: `cannot read ${name}: ${reason}`, hint: nameNear(name), isMissing };
  }
}

/** The folders in which files of the edge file `root` may be. */
export function allowedFolders(root: string, environment: NodeJS.ProcessEnv): readonly string[] {
  return [projectFolder(root), ...furtherFolders(environment)];
}

/** The nearest folder above a file that has a repository, otherwise its own folder. */
function projectFolder(root: string): string {
  const own = real(dirname(resolve(root)));
  for (let folder = own; ; folder = dirname(folder)) {
    if (isThere(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return own;
  }
}

/** Whether a file exists; Node's permission model hides those that this process may not read. */
function isThere(path: string): boolean {
  try {
    return existsSync(path);
  } catch {
    return false;
  }
}

function furtherFolders(environment: NodeJS.ProcessEnv): string[] {
  return (environment[FOLDERS_VARIABLE] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => real(resolve(folder)));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
