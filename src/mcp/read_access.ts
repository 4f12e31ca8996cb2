import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** A path, or other input of a tool, that is refused; the message is for the client. */
export class RefusedInput extends Error {
  override readonly name = 'RefusedInput';
}

/** The folders that tools may read, with their links followed; those that do not exist are left out. */
export function existingFolders(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    try {
      return [realpathSync(folder)];
    } catch {
      return [];
    }
  });
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
