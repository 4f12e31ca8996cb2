import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';

/** The mode of files with secrets. */
export const OWNER_ONLY = 0o600;

const READABLE_BY_OTHERS = 0o077;

/**
 * Creates a file if needed, readable only by its owner; SQLite gives its auxiliary files the same mode. An
 * existing file of this user that others can read is restricted.
 */
export function ownFile(path: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, OWNER_ONLY);
  try {
    if (fstatSync(file).uid === process.getuid?.()) restrict(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes a secret to a file that only its owner can read, also if it replaces one that others could. Throws errors of the
 * system, and an error with its cure, before anything is written, if others could read the file. A pipe or a device
 * keeps its mode.
 */
export function writeOwnFile(path: string, text: string | Uint8Array, flag: 'w' | 'wx'): void {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | (flag === 'wx' ? O_EXCL : 0), OWNER_ONLY);
  try {
    restrict(file);
    if (fstatSync(file).isFile()) ftruncateSync(file);
    writeFileSync(file, text);
  } catch (error) {
    if (flag === 'wx') rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Windows has no modes: there the rights of the folder hold. */
function isOpen(file: number): boolean {
  const stat = fstatSync(file);
  return process.getuid !== undefined && stat.isFile() && (stat.mode & READABLE_BY_OTHERS) !== 0;
}

/** File systems such as FAT refuse a mode, or take no notice of it. */
function restrict(file: number): void {
  if (!isOpen(file)) return;
  let cause: unknown;
  try {
    fchmodSync(file, OWNER_ONLY);
  } catch (error) {
    cause = error;
  }
  if (isOpen(file)) throw new Error(others(fstatSync(file).uid), { cause });
}

function others(owner: number): string {
  const isOurs = owner === process.getuid?.();
  return isOurs
    ? 'others could read the secret in it, because its file system cannot restrict who reads a file; write to another one, or mount this one for its owner alone (umask=077)'
    : 'it belongs to another user, who could read the secret in it; remove it, or choose another name';
}
