import { setTimeout } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { groupCommit } from './group_commit.ts';
import { largeCommits } from './large_commits.ts';
import type { Store } from './port.ts';
import { isLock, unavailable } from './sqlite_faults.ts';
import { sqliteTransaction } from './sqlite_view.ts';

/** Time between two attempts to get a lock that another process has. */
const RETRY_MS = 20;

/** Writes of an SQLite database. A lock of another process is waited for without blocking the event loop. */
export function sqliteWrites(
  database: DatabaseSync,
  { lockMs, path }: { readonly lockMs: number; readonly path: string },
): {
  readonly write: Store['write'];
  readonly idle: () => Promise<void>;
  /** Number of commits so far. */
  readonly commits: () => number;
} {
  const step = (sql: string) => {
    const statement = database.prepare(sql);
    return () => void statement.run();
  };
  const large = largeCommits(database, path);
  const [begin, commit] = [step('BEGIN IMMEDIATE'), step('COMMIT')];
  let commits = 0;
  const { write, idle } = groupCommit({
    begin: async () => {
      await beginWithin(lockMs, begin);
      large.begun();
    },
    save: step('SAVEPOINT work'),
    release: step('RELEASE work'),
    back: step('ROLLBACK TO work'),
    commit: async () => {
      await large.prepared();
      commit();
      commits++;
    },
    abort: () => {
      if (database.isTransaction) database.exec('ROLLBACK');
    },
    ended: () => large.ended(),
    // SQLite ends the transaction by itself after some errors, such as a full disk.
    isOpen: () => database.isTransaction,
    writesWith: sqliteTransaction(database),
    unavailable,
  });
  return {
    write,
    idle: async () => {
      await idle();
      await large.idle();
    },
    commits: () => commits,
  };
}

async function beginWithin(lockMs: number, begin: () => void): Promise<void> {
  for (const until = performance.now() + lockMs; ; await setTimeout(RETRY_MS)) {
    try {
      return begin();
    } catch (error) {
      if (!isLock(error) || performance.now() > until) throw error;
    }
  }
}
