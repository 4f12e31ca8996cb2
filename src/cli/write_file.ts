import { writeFileSync } from 'node:fs';
import { writeOwnFile } from '../control/store/own_file.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { OutputError } from './failure.ts';

/** How a file is written: whether only its owner may read it, also if it replaces one, and `wx` to keep a file that exists. */
interface Creation {
  readonly isSecret?: boolean;
  readonly flag?: 'w' | 'wx';
}

/** Writes a file; throws OutputError when it cannot be written, and for `-`, which elsewhere is standard output. */
export function writeText(path: string, text: string | Uint8Array, creation: Creation = {}): void {
  const { isSecret = false, flag = 'w' } = creation;
  if (path === '-')
    throw new OutputError('- is standard output, which this option does not write to; name a file');
  try {
    if (isSecret) writeOwnFile(path, text, flag);
    else writeFileSync(path, text, { flag });
  } catch (error) {
    throw new OutputError(fileFailure('write', path, error));
  }
}
