import { failureText } from '../../diagnostics/system_failure.ts';
import { DatabaseSync } from 'node:sqlite';
import { writeFileSync } from 'node:fs';
import { OWNER_ONLY } from './own_file.ts';
import { StoreError } from './port.ts';

/**
 * Copies a database that may be in use: the copy is the state at one moment, with all that was committed before.
 * Throws StoreError.
 */
export function copyDatabase(from: string, to: string): void {
  let database: DatabaseSync | undefined;
  try {
    // SQLite fills an empty file, which keeps its mode.
    writeFileSync(to, '', { mode: OWNER_ONLY, flag: 'wx' });
    database = new DatabaseSync(from, { readOnly: true });
    database.prepare('VACUUM INTO ?').run(to);
  } catch (error) {
    throw new StoreError(`cannot copy ${from} to ${to}: ${failureText(error)}`, { cause: error });
  } finally {
    database?.close();
  }
}
