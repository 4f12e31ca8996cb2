import { setImmediate, setTimeout } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { type LargeCommits, largeCommits } from './large_commits.ts';
import type { Store, Transaction } from './port.ts';
import { isLock, unavailable } from './sqlite_faults.ts';

/** What a transaction needs besides the connection. */
type Undoing = Pick<Transaction, 'undone'>;

/** What writes need of a database. */
interface Connection {
  readonly database: DatabaseSync;
  readonly transactionWith: (undoing: Undoing) => Transaction;
  readonly begin: () => void;
  readonly commit: () => void;
  readonly save: () => void;
  readonly release: () => void;
  readonly back: () => void;
  readonly large: LargeCommits;
}

interface Waiting {
  readonly work: (transaction: Transaction) => Promise<unknown>;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A write that has succeeded and waits for the commit. */
interface Done {
  readonly waiting: Waiting;
  readonly answer: unknown;
  readonly undo: readonly (() => void)[];
}

/** Maximum number of writes in one commit. */
const GROUP = 64;
/** Time between two attempts to get a lock that another process has. */
const RETRY_MS = 20;

/**
 * Runs writes one after the other and commits those together that arrive in the same turn of the event loop: syncing
 * costs as much for one as for many. Each has a savepoint, so that one that fails leaves the others alone; each is
 * answered when all of its group is durable. A lock of another process is waited for without blocking the event loop.
 */
export function groupCommit(
  database: DatabaseSync,
  transactionWith: Connection['transactionWith'],
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
  let commits = 0;
  const commit = step('COMMIT');
  const large = largeCommits(database, path);
  const connection: Connection = {
    database,
    large,
    transactionWith,
    begin: step('BEGIN IMMEDIATE'),
    commit: () => {
      commit();
      commits++;
    },
    save: step('SAVEPOINT work'),
    release: step('RELEASE work'),
    back: step('ROLLBACK TO work'),
  };
  const queue: Waiting[] = [];
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;

  async function run(): Promise<void> {
    while (queue.length > 0) {
      try {
        await beginWithin(lockMs, connection);
      } catch (error) {
        for (const { reject } of queue.splice(0)) reject(unavailable(error));
        break;
      }
      await runGroup(queue, connection);
    }
    isRunning = false;
  }

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        queue.push({ work, resolve, reject });
        if (isRunning) return;
        isRunning = true;
        running = run();
      }),
    idle: async () => {
      await running;
      await large.idle();
    },
    commits: () => commits,
  };
}

async function beginWithin(lockMs: number, { begin }: Connection): Promise<void> {
  for (const until = performance.now() + lockMs; ; await setTimeout(RETRY_MS)) {
    try {
      return begin();
    } catch (error) {
      if (!isLock(error) || performance.now() > until) throw error;
    }
  }
}

/** Runs what waits in the open transaction, commits, and answers. */
async function runGroup(queue: Waiting[], connection: Connection): Promise<void> {
  const group: Done[] = [];
  connection.large.begun();
  try {
    for (let joined = 0; joined < GROUP; joined++) {
      // What arrives while the others run may join.
      if (queue.length === 0) await setImmediate();
      const waiting = queue.shift();
      if (waiting === undefined) break;
      await attempt(waiting, group, connection);
    }
    await connection.large.prepared();
    connection.commit();
  } catch (error) {
    if (connection.database.isTransaction) connection.database.exec('ROLLBACK');
    for (const { undo } of group.toReversed()) revert(undo);
    for (const { waiting } of group) waiting.reject(unavailable(error));
    return;
  } finally {
    connection.large.ended();
  }
  for (const { waiting, answer } of group) waiting.resolve(answer as never);
}

/** Runs one write in its savepoint; throws only if the whole transaction is lost. */
async function attempt(waiting: Waiting, group: Done[], connection: Connection): Promise<void> {
  const { database, transactionWith, save, release, back } = connection;
  const undo: (() => void)[] = [];
  try {
    save();
    const answer = await waiting.work(transactionWith({ undone: (action) => void undo.push(action) }));
    release();
    group.push({ waiting, answer, undo });
  } catch (error) {
    revert(undo);
    waiting.reject(unavailable(error));
    // SQLite ends the transaction by itself after some errors, such as a full disk.
    if (!database.isTransaction) throw error;
    back();
    release();
  }
}

function revert(undo: readonly (() => void)[]): void {
  for (const action of undo.toReversed()) action();
}
