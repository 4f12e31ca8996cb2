import { closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';

/** The mode of files with secrets. */
export const OWNER_ONLY = 0o600;

/**
 * Creates a file if needed, readable only by its owner; SQLite gives its auxiliary files the same mode. An
 * existing file that others can read is restricted.
 */
export function ownFile(path: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, OWNER_ONLY);
  try {
    const stat = fstatSync(file);
    if (stat.isFile() && (stat.mode & 0o077) !== 0 && stat.uid === process.getuid?.())
      fchmodSync(file, OWNER_ONLY);
  } finally {
    closeSync(file);
  }
}
