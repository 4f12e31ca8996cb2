import { closeSync, fchmodSync, fstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { OutputError } from './failure.ts';

/** How a file is written: its mode, which a replaced file gets too, and `wx` to keep a file that exists. */
interface Creation {
  readonly mode?: number;
  readonly flag?: 'w' | 'wx';
}

/** Writes a file; throws OutputError when it cannot be written. */
export function writeText(path: string, text: string | Uint8Array, creation: Creation = {}): void {
  const { mode, flag = 'w' } = creation;
  try {
    const file = openSync(path, flag, mode);
    try {
      // What is not a file, such as a pipe, keeps its mode.
      if (mode !== undefined && fstatSync(file).isFile()) fchmodSync(file, mode);
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new OutputError(fileFailure('write', path, error));
  }
}

/** Makes a folder and those above it; throws OutputError. */
export function makeFolder(path: string, mode?: number): void {
  try {
    mkdirSync(path, { recursive: true, ...(mode !== undefined && { mode }) });
  } catch (error) {
    throw new OutputError(fileFailure('create the folder', path, error));
  }
}
