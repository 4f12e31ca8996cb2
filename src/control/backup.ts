import { failureText, fileFailure } from '../diagnostics/system_failure.ts';
import { closeSync, constants, copyFileSync, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { samlFileOf } from './saml_keys.ts';
import { openSealedStore, sessionKeysOf } from './sealed_store.ts';
import { keyFileOf } from './sealing_keys.ts';
import { copyDatabase } from './store/sqlite_copy.ts';
import { StoreError } from './store/port.ts';
import { isPostgres, storeName } from './store/postgres.ts';

/** Whether a backup contains the key of its secrets. */
interface BackupOptions {
  readonly withKey: boolean;
}

/**
 * Copies a store, which may be in use, and the files beside it. Returns the files that were written; throws
 * StoreError and leaves none of them if one cannot be written or exists.
 */
export function backUp(storePath: string, target: string, { withKey }: BackupOptions): readonly string[] {
  if (isPostgres(storePath))
    throw new StoreError(
      `${storeName(storePath)} is a database: \`edgeproof store copy\` makes a file of it`,
    );
  if (!existsSync(storePath)) throw new StoreError(`there is no store ${storePath}; name it with --store`);
  needStore(storePath, 'the store of `edgeproof serve` with --store');
  if (withKey && !existsSync(keyFileOf(storePath)))
    throw new StoreError(
      `${storePath} cannot be copied: the key of its secrets, ${keyFileOf(storePath)}, is missing; put it back, or leave it out with --no-key`,
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
  if (isPostgres(storePath))
    throw new StoreError(
      `${storeName(storePath)} is a database: restore the backup as a file, which \`edgeproof store copy\` takes there`,
    );
  if (!existsSync(backup))
    throw new StoreError(
      `there is no backup ${backup}; correct the name, or make one with \`edgeproof backup\``,
    );
  needStore(backup, 'a file that `edgeproof backup` has written');
  if (!existsSync(keyPath))
    throw new StoreError(
      `${keyPath} is missing: it contains the key for the secrets of ${backup}; copy it from the place of the store, or name it with --key`,
    );
  const written = allOrNone([
    { to: storePath, copy: () => copyDatabase(backup, storePath) },
    copying(keyPath, keyFileOf(storePath)),
    ...(existsSync(samlFileOf(backup)) ? [copying(samlFileOf(backup), samlFileOf(storePath))] : []),
  ]);
  try {
    const { store, sealing } = await openSealedStore(storePath);
    try {
      await sessionKeysOf(store, sealing);
    } finally {
      await store.close();
    }
  } catch (error) {
    for (const file of written) rmSync(file);
    throw error;
  }
  return written;
}

/** The first bytes of every SQLite database (SQLite, "Database File Format", section 1.3). */
const MAGIC = Buffer.from('SQLite format 3\0');

/** Throws StoreError for a file that is not a database; `wanted` is what to name instead. */
function needStore(path: string, wanted: string): void {
  const head = Buffer.alloc(MAGIC.length);
  let read: number;
  try {
    const file = openSync(path, 'r');
    try {
      read = readSync(file, head, 0, head.length, 0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new StoreError(fileFailure('read', path, error), { cause: error });
  }
  // SQLite itself treats an empty file as an empty database.
  if (read > 0 && !head.equals(MAGIC)) throw new StoreError(`${path} is not a store; name ${wanted}`);
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
  if (existing !== undefined)
    throw new StoreError(`${existing.to} exists, and is not overwritten; choose another name, or remove it`);
  try {
    for (const { copy } of copies) copy();
  } catch (error) {
    for (const { to } of copies) rmSync(to, { force: true });
    throw error;
  }
  return copies.map(({ to }) => to);
}
