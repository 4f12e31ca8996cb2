import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { FileError } from '../project_files/load_config.ts';
import { OutputError } from './failure.ts';

const OWNER_ONLY = 0o700;

/** Makes a folder and those above it; throws OutputError, and FileError for an empty name. */
export function makeFolder(path: string, mode?: number): void {
  if (path === '') throw new FileError('the folder name is empty; give one, or . for the current folder');
  try {
    makeMissing(resolve(path), mode);
  } catch (error) {
    throw new OutputError(fileFailure('create the folder', path, error));
  }
}

/** The folder of event files, by its absolute path. It is made; throws OutputError if nothing can be created in it. */
export function eventFolder(path: string): string {
  makeFolder(path, OWNER_ONLY);
  try {
    // Permissions alone do not say it: of a file system such as /proc, or of a user who may do all.
    rmdirSync(mkdtempSync(join(path, '.edgeproof-')));
  } catch (error) {
    throw new OutputError(fileFailure('write to the folder', path, reasonOf(error, path)));
  }
  return resolve(path);
}

/**
 * As `mkdirSync` with `recursive`, which never returns where the system says ENOENT although the folder above is there, as
 * it does in /proc. Throws errors of the system.
 */
export function makeMissing(path: string, mode = 0o777): void {
  const above = dirname(path);
  if (!existsSync(above)) makeMissing(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) throw reasonOf(error, above);
  }
}

/** The system says that a file is missing where its folder takes none. */
function reasonOf(error: unknown, folder: string): unknown {
  const isRefused = (error as NodeJS.ErrnoException).code === 'ENOENT' && isFolder(folder);
  return isRefused
    ? new Error(`nothing can be created in ${folder}; choose another folder`, { cause: error })
    : error;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
