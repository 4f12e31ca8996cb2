import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { failureText } from '../../diagnostics/system_failure.ts';
import { type StoreSource, type StoreTarget, type Values, selectOf } from './copied_tables.ts';
import { StoreError } from './port.ts';
import { openSqliteStore, refuseEmptyFile } from './sqlite.ts';

const ROWS = 500;

/** Reads a store in a file, which an instance may serve. Throws StoreError. */
export async function sqliteSource(path: string): Promise<StoreSource> {
  if (!existsSync(path)) throw new StoreError(`there is no store ${path}; correct the name`);
  refuseEmptyFile(path);
  // Opening it brings it to the current version.
  await openSqliteStore(path).close();
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec('BEGIN');
  return {
    rows: async function* (table) {
      let rows: Values[] = [];
      for (const row of database.prepare(selectOf(table)).iterate()) {
        rows.push(table.columns.map((column) => row[column] as string | number));
        if (rows.length < ROWS) continue;
        yield rows;
        rows = [];
      }
      if (rows.length > 0) yield rows;
    },
    close: async () => database.close(),
  };
}

/** Fills a store in a file that does not exist. Throws StoreError. */
export async function sqliteTarget(path: string): Promise<StoreTarget> {
  if (existsSync(path))
    throw new StoreError(`${path} exists, and is not overwritten; choose another name, or remove it`);
  let database: DatabaseSync;
  try {
    await openSqliteStore(path).close();
    database = new DatabaseSync(path, { enableForeignKeyConstraints: true });
    database.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
  } catch (error) {
    removeStore(path);
    if (error instanceof StoreError) throw error;
    throw new StoreError(`cannot write ${path}: ${failureText(error)}`, { cause: error });
  }
  let isWritten = false;
  return {
    write: async ({ name, columns }, rows) => {
      const places = columns.map(() => '?').join(', ');
      const insert = database.prepare(`INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places})`);
      for (const row of rows) insert.run(...row);
    },
    commit: async () => {
      database.exec('COMMIT');
      isWritten = true;
    },
    close: async () => {
      database.close();
      if (!isWritten) removeStore(path);
    },
  };
}

function removeStore(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}
