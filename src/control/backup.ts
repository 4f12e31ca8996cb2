import { failureText } from '../diagnostics/system_failure.ts';
import { constants, copyFileSync, existsSync, rmSync } from 'node:fs';
import { keyFileOf, openSealedStore, samlFileOf, sessionKeysOf } from './sealed_store.ts';
import { copyDatabase } from './store/sqlite_copy.ts';
import { StoreError } from './store/port.ts';

/** Whether a backup contains the key of its secrets. */
interface BackupOptions {
  readonly withKey: boolean;
}

/**
 * Copies a store, which may be in use, and the files beside it. Returns the files that were written; throws
 * StoreError and leaves none of them if one cannot be written or exists.
 */
export function backUp(storePath: string, target: string, { withKey }: BackupOptions): readonly string[] {
  if (!existsSync(storePath)) throw new StoreError(`there is no store ${storePath}; correct the name`);
  if (withKey && !existsSync(keyFileOf(storePath)))
    throw new StoreError(
      `${storePath} cannot be copied as a store: its key ${keyFileOf(storePath)} is missing`,
    );
  return allOrNone([
    ...(withKey ? [copying(keyFileOf(storePath), keyFileOf(target))] : []),
    ...(existsSync(samlFileOf(storePath)) ? [copying(samlFileOf(storePath), samlFileOf(target))] : []),
    { to: target, copy: () => copyDatabase(storePath, target) },
  ]);
}

/**
 * Makes a store of a backup. `keyPath` is the file of its key, by default the one beside it. Throws StoreError and
 * leaves nothing if the store exists, the backup is damaged, or the key does not open its secrets.
 */
export async function restore(
  backup: string,
  storePath: string,
  keyPath = keyFileOf(backup),
): Promise<readonly string[]> {
  if (!existsSync(backup)) throw new StoreError(`there is no backup ${backup}`);
  if (!existsSync(keyPath))
    throw new StoreError(`${keyPath} is missing: it contains the key for the secrets of ${backup}`);
  const written = allOrNone([
    { to: storePath, copy: () => copyDatabase(backup, storePath) },
    copying(keyPath, keyFileOf(storePath)),
    ...(existsSync(samlFileOf(backup)) ? [copying(samlFileOf(backup), samlFileOf(storePath))] : []),
  ]);
  try {
    const { store, key } = await openSealedStore(storePath);
    try {
      await sessionKeysOf(store, key);
    } finally {
      await store.close();
    }
  } catch (error) {
    for (const file of written) rmSync(file);
    throw error;
  }
  return written;
}

interface Copying {
  readonly to: string;
  readonly copy: () => void;
}

function copying(from: string, to: string): Copying {
  const copy = (): void => {
    try {
      copyFileSync(from, to, constants.COPYFILE_EXCL);
    } catch (error) {
      throw new StoreError(`cannot copy ${from} to ${to}: ${failureText(error)}`, { cause: error });
    }
  };
  return { to, copy };
}

function allOrNone(copies: readonly Copying[]): string[] {
  const existing = copies.find(({ to }) => existsSync(to));
  if (existing !== undefined) throw new StoreError(`${existing.to} exists; it is not overwritten`);
  try {
    for (const { copy } of copies) copy();
  } catch (error) {
    for (const { to } of copies) rmSync(to, { force: true });
    throw error;
  }
  return copies.map(({ to }) => to);
}
