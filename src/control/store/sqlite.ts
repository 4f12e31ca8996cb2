import { failureText } from '../../diagnostics/system_failure.ts';
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { ownFile } from './own_file.ts';
import { migrate } from './migrations.ts';
import { type Store, StoreError } from './port.ts';
import { isLock } from './sqlite_faults.ts';
import { longReads, snapshots } from './sqlite_reads.ts';
import { sqliteWrites } from './sqlite_writes.ts';

/** Limits of a store. */
export interface StoreLimits {
  /** How long a write waits for a lock of another process; default 5,000 ms. */
  readonly lockMs?: number;
  /** Maximum size in pages of 4 KiB, beyond which the disk counts as full; default none. */
  readonly maxPages?: number;
}

/** How long a write waits for a lock of another process. */
const LOCK_MS = 5_000;

/** How a store is opened. */
export interface SqliteOptions extends StoreLimits {
  /** Whether this is the only instance that serves the store, which is a StoreError for any other one. */
  readonly isServing?: boolean;
}

/** Throws StoreError for a file without a byte, of which SQLite would make a database. */
export function refuseEmptyFile(path: string): void {
  if (statSync(path).size === 0)
    throw new StoreError(`${path} is an empty file, not a store; name one that \`edgeproof serve\` made`);
}

/**
 * Opens a store in one file and creates the file if needed. Writes are on disk before they are acknowledged.
 * Throws StoreError if the file is damaged, is not a store, has a newer version, or is served by another instance.
 */
export function openSqliteStore(path: string, options: SqliteOptions = {}): Store {
  const { isServing = false, lockMs = LOCK_MS, maxPages } = options;
  const lock = isServing ? lockBeside(path) : null;
  let writer: DatabaseSync;
  try {
    writer = openFile(path);
  } catch (error) {
    lock?.close();
    throw error;
  }
  // Reads use a separate connection, so that they never see uncommitted writes.
  const reader = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  if (maxPages !== undefined) writer.exec(`PRAGMA max_page_count = ${maxPages}`);
  const writing = sqliteWrites(writer, { lockMs, path });
  const reading = snapshots(reader, writing.commits);
  const long = longReads(path);
  return {
    read: reading.read,
    readLong: long.read,
    write: writing.write,
    close: async () => {
      await Promise.all([reading.idle(), long.idle(), writing.idle()]);
      reader.close();
      writer.close();
      lock?.close();
    },
  };
}

/**
 * The lock of the instance that serves a store: a lock of SQLite's on a file beside it, which the system releases
 * when the process ends, however it ends.
 */
function lockBeside(path: string): DatabaseSync {
  const file = `${path}.lock`;
  let lock: DatabaseSync | undefined;
  try {
    // Not opened if it exists: closing a file would release the locks of this process on it.
    if (!existsSync(file)) ownFile(file);
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    const message = isLock(error)
      ? `the store ${path} is served by another instance; stop it first`
      : `cannot lock the store ${path}: ${failureText(error)}`;
    throw new StoreError(message, { cause: error });
  }
}

/** Milliseconds to wait for a lock of another process while a store is opened. */
const OPENING_MS = 5_000;

function openFile(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    ownFile(path);
    database = new DatabaseSync(path, { timeout: OPENING_MS, enableForeignKeyConstraints: true });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    const damage = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
    if (damage !== 'ok') throw new StoreError(`the store ${path} is damaged: ${String(damage)}`);
    migrate(database, path);
    // From here on, locks are waited for without blocking.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StoreError) throw error;
    const cure = /not a database/.test(failureText(error))
      ? '; name a store that `edgeproof serve` made'
      : '';
    throw new StoreError(`cannot open the store ${path}: ${failureText(error)}${cure}`, { cause: error });
  }
}
