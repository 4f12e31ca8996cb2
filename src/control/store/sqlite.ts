import { closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS } from './migrations.ts';
import { type Store, StoreError, type Transaction, type View } from './port.ts';
import { sqliteTransaction, sqliteView } from './sqlite_view.ts';

/** Milliseconds to wait for a lock of another process. */
const BUSY_MS = 5_000;

/**
 * Opens a store in one file and creates the file if needed. Writes are on disk before they are acknowledged.
 * Throws StoreError if the file is damaged, is not a store, or has a newer version.
 */
export function openSqliteStore(path: string): Store {
  const writer = openFile(path);
  // Reads use a separate connection, so that they never see uncommitted writes.
  const reader = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
  const view = sqliteView(reader);
  const transaction = sqliteTransaction(writer);
  let lastWrite: Promise<unknown> = Promise.resolve();
  let lastRead: Promise<unknown> = Promise.resolve();

  return {
    read: (work) => {
      const answer = after(lastRead, () => within(reader, 'BEGIN', work, view));
      lastRead = answer;
      return answer;
    },
    write: (work) => {
      const answer = after(lastWrite, () => within(writer, 'BEGIN IMMEDIATE', work, transaction));
      lastWrite = answer;
      return answer;
    },
    close: async () => {
      await Promise.allSettled([lastRead, lastWrite]);
      reader.close();
      writer.close();
    },
  };
}

/** Starts after the previous work has settled, whether it failed or not. */
function after<Answer>(before: Promise<unknown>, work: () => Promise<Answer>): Promise<Answer> {
  return before.then(work, work);
}

async function within<Answer, Access extends View | Transaction>(
  database: DatabaseSync,
  begin: string,
  work: (access: Access) => Promise<Answer>,
  access: Access,
): Promise<Answer> {
  database.exec(begin);
  try {
    const answer = await work(access);
    database.exec('COMMIT');
    return answer;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function openFile(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    ownFile(path);
    database = new DatabaseSync(path, { timeout: BUSY_MS, enableForeignKeyConstraints: true });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    const damage = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
    if (damage !== 'ok') throw new StoreError(`the store ${path} is damaged: ${String(damage)}`);
    migrate(database, path);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StoreError) throw error;
    throw new StoreError(`cannot open the store ${path}: ${(error as Error).message}`, { cause: error });
  }
}

const OWNER_ONLY = 0o600;

/**
 * Creates the file if needed, readable only by its owner; SQLite gives its auxiliary files the same mode. An
 * existing file that others can read is restricted.
 */
function ownFile(path: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, OWNER_ONLY);
  try {
    const stat = fstatSync(file);
    if (stat.isFile() && (stat.mode & 0o077) !== 0 && stat.uid === process.getuid?.())
      fchmodSync(file, OWNER_ONLY);
  } finally {
    closeSync(file);
  }
}

function migrate(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > MIGRATIONS.length) {
    const message = `the store ${path} has version ${version}; this edgeproof supports versions up to`;
    throw new StoreError(`${message} ${MIGRATIONS.length}; use the edgeproof that wrote it, or a newer one`);
  }
  const isOurs =
    version > 0 || database.prepare('SELECT name FROM sqlite_schema LIMIT 1').get() === undefined;
  if (!isOurs) throw new StoreError(`${path} is a database of another application`);
  for (const [index, script] of MIGRATIONS.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${script}; PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
