import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** A path, or other input of a tool, that is refused; the message is for the client. */
export class RefusedInput extends Error {
  override readonly name = 'RefusedInput';
}

/** The folders that tools may read, with their links followed; those that do not exist are left out. */
export function existingFolders(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => real(folder) ?? []);
}

/**
 * The folders that contain all of the given ones. Node's permission model refuses a folder itself, though not what is in
 * it, if a folder inside it is named, too.
 */
export function outermost(folders: readonly string[]): string[] {
  return [...new Set(folders)].filter(
    (folder, _index, all) => !all.some((other) => other !== folder && isInside(folder, other)),
  );
}

/**
 * The absolute path of a file or folder that a client names, relative to the first allowed folder. Links are followed
 * first, so that none leads out. Throws RefusedInput.
 */
export function allowedPath(named: string, folders: readonly string[]): string {
  const [first] = folders;
  if (first === undefined) throw new RefusedInput('the client allows no folder that exists');
  const path = real(resolve(first, named));
  if (path === null) throw new RefusedInput(`there is no file or folder ${named} in ${folders.join(', ')}`);
  if (!folders.some((folder) => isInside(path, folder)))
    throw new RefusedInput(`${named} is outside of the allowed folders: ${folders.join(', ')}`);
  return path;
}

function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
