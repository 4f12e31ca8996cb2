import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { didYouMean } from '../diagnostics/message_text.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { suggest } from '../diagnostics/suggest.ts';
import type { FilesBeside } from '../simulator/document/beside.ts';

/** Files that a scenario file names, on disk. */
export const FILES_BESIDE: FilesBeside = {
  nameOf: besideName,
  read: (name) => {
    try {
      return { name, text: readFileSync(name, 'utf8') };
    } catch (error) {
      return { problem: fileFailure('read', name, error), hint: nameNear(name) };
    }
  },
};

/** A path in a file, relative to the current folder. */
export function besideName(file: string, named: string): string {
  return relative('.', resolve(dirname(file), named)) || join(dirname(file), named);
}

/** A hint with the name of a file beside a missing one; undefined if no name is similar. */
export function nameNear(path: string): string | undefined {
  return didYouMean(suggest(basename(path), namesBeside(path)));
}

function namesBeside(path: string): readonly string[] {
  try {
    return readdirSync(dirname(path)).filter((name) => extname(name) !== '');
  } catch {
    return [];
  }
}
