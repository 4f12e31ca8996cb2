import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { type SealingKey, newSealingKey, readSealingKey, seal, unseal } from '../crypto/sealing.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { writeOwnFile } from './store/own_file.ts';
import { StoreError } from './store/port.ts';
import { isPostgres, storeName } from './store/postgres.ts';
import type { Sealing } from './store/sealed.ts';

/** Where the keys that seal the secrets of a store are; one place at most. */
export interface SealingOptions {
  /** A file with a key in each line; default for a store in a file: the file of its name with the suffix `.key`. */
  readonly keyFile?: string;
  /** A command that prints the keys. */
  readonly keyCommand?: string;
}

/** Keys that can be replaced while the store is open: the first seals, each of them opens. */
export interface SealingKeys extends Sealing {
  /** Reads the keys again. Throws StoreError and keeps the present ones if they cannot be read. */
  readonly reload: () => Promise<void>;
}

/** The file of the key that seals the secrets of a store in a file. */
export const keyFileOf = (storePath: string): string => `${storePath}.key`;

const COMMAND_MS = 10_000;
const run = promisify(execFile);

/**
 * The keys of a store. A file is created only for new stores: with a new key, existing secrets would silently become
 * unreadable. Throws StoreError.
 */
export async function sealingKeys(
  place: string,
  isNew: boolean,
  { keyFile, keyCommand }: SealingOptions,
): Promise<SealingKeys> {
  if (keyFile === undefined && keyCommand === undefined && isPostgres(place)) {
    const message = `the store ${storeName(place)} needs a key for its secrets, the same on every node`;
    throw new StoreError(`${message}: --seal-key-file or --seal-key-command`);
  }
  const file = keyFile ?? keyFileOf(place);
  const read = (mayCreate: boolean): Promise<readonly SealingKey[]> =>
    keyCommand === undefined ? fromFile(file, place, mayCreate) : fromCommand(keyCommand);
  let keys = await read(isNew);
  return {
    seal: (text, at) => seal(keys[0]!, text, at),
    unseal: (sealed, at) => {
      for (const key of keys) {
        const text = unseal(key, sealed, at);
        if (text !== null) return text;
      }
      return null;
    },
    reload: async () => {
      keys = await read(false);
    },
  };
}

async function fromFile(path: string, place: string, mayCreate: boolean): Promise<readonly SealingKey[]> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new StoreError(fileFailure('read the sealing key in', path, error), { cause: error });
    if (!mayCreate) {
      const message = `${path} is missing: it contains the key for the secrets of ${storeName(place)}`;
      throw new StoreError(`${message}; restore it from a backup, or start with a new store`);
    }
    text = newKeyIn(path);
  }
  return keysIn(text, path);
}

function newKeyIn(path: string): string {
  const text = newSealingKey();
  try {
    writeOwnFile(path, `${text}\n`, 'wx');
  } catch (error) {
    throw new StoreError(fileFailure('write the sealing key to', path, error), { cause: error });
  }
  return text;
}

async function fromCommand(command: string): Promise<readonly SealingKey[]> {
  try {
    const { stdout } = await run('/bin/sh', ['-c', command], { timeout: COMMAND_MS, maxBuffer: 65_536 });
    return keysIn(stdout, 'the output of --seal-key-command');
  } catch (error) {
    if (error instanceof StoreError) throw error;
    // The message of Node has the command and what it printed on standard error.
    const { code, killed } = error as { readonly code?: number | string; readonly killed?: boolean };
    const why = killed === true ? `took longer than ${COMMAND_MS / 1_000} s` : `ended with ${code}`;
    throw new StoreError(`--seal-key-command ${why}; it has to print the key of the store's secrets`);
  }
}

function keysIn(text: string, source: string): readonly SealingKey[] {
  const keys = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [readSealingKey(line)]));
  const known = keys.filter((key) => key !== null);
  if (known.length === 0 || known.length < keys.length)
    throw new StoreError(`${source} does not contain a sealing key`);
  return known;
}
