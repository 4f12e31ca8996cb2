import { setTimeout } from 'node:timers/promises';
import { secretText } from '../../crypto/random.ts';
import { groupCommit } from './group_commit.ts';
import { type Store, StoreUnavailable } from './port.ts';
import type { Connection } from './postgres_connection.ts';
import { unavailable } from './postgres_faults.ts';
import type { Following } from './postgres_following.ts';
import { postgresTransaction } from './postgres_transaction.ts';

/** How writes get their connection, and how long they wait. */
export interface WritesOptions {
  readonly connect: () => Promise<Connection>;
  readonly following: Following;
  /** How long a write waits for one of another node. */
  readonly lockMs: number;
  /** How long a lost connection is remade to learn what became of a commit. */
  readonly outcomeMs: number;
}

/**
 * Begins a transaction that excludes all other writers of the store: its first statement locks the one row of the
 * revision, and what it reads afterwards is what the last writer has committed.
 */
const BEGIN = 'BEGIN; SELECT number FROM revision FOR UPDATE';
/**
 * Counts a revision if anything was changed, with a mark by which the write can be found again, and wakes the listeners.
 * The number of a transaction is not enough: a server that was killed gives those of lost transactions again. The type
 * `name` cuts the channel of a long schema to 63 bytes, as LISTEN does; `pg_notify` would refuse it.
 */
const COUNT = `
  WITH next AS (
    UPDATE revision SET number = number + 1
    WHERE EXISTS (SELECT FROM changes WHERE changes.revision = number + 1) RETURNING number),
  mark AS (INSERT INTO changes (revision, what) SELECT number, 'write ' || $1 FROM next)
  SELECT number, pg_notify(('edgeproof ' || current_schema())::name::text, number::text) FROM next`;

/**
 * Writes of a PostgreSQL database, on one connection. Writers of all nodes run one after the other, so that their
 * order is that of the revisions.
 */
export function postgresWrites(options: WritesOptions): {
  readonly write: Store['write'];
  readonly close: () => Promise<void>;
} {
  const { following } = options;
  const { lockMs } = options;
  let connection: Connection | null = null;
  let done: (() => void) | null = null;

  const fresh = async (): Promise<Connection> => (connection = await forWrites(options));
  const run: Connection['run'] = async (sql, values) => connection!.run(sql, values);
  const ended = (): void => {
    done?.();
    done = null;
  };
  const failed = (error: unknown): never => {
    ended();
    throw error;
  };
  const step = (sql: string) => async (): Promise<void> => void (await run(sql));
  const writes = postgresTransaction({ run });
  const { write, idle } = groupCommit({
    begin: async () => {
      const known = connection?.isLost() === false ? connection : null;
      try {
        await (known ?? (await fresh())).begin(BEGIN, lockMs);
      } catch (error) {
        await rolledBack(connection);
        // A connection that was cut while it was idle fails at its first use. Nothing has run yet.
        if (known === null || !known.isLost() || known.isSilent()) throw error;
        await (await fresh()).begin(BEGIN, lockMs);
      }
      // The next revision is made of the last one, which must be active here first.
      done = await following.alone();
      await following
        .catchUp({ run })
        .catch((error: unknown) => rolledBack(connection).then(() => failed(error)));
    },
    save: step('SAVEPOINT work'),
    release: step('RELEASE SAVEPOINT work'),
    back: step('ROLLBACK TO SAVEPOINT work'),
    commit: async () => {
      const mark = secretText(MARK_LENGTH);
      const [counted] = await run(COUNT, [mark]);
      try {
        await run('COMMIT');
      } catch (error) {
        if (!connection!.isLost()) throw error;
        await outcomeOf(counted === undefined ? null : mark, options, error);
      }
      if (counted !== undefined && following.isFollowing()) following.committed(Number(counted['number']));
    },
    ended,
    abort: () => rolledBack(connection),
    isOpen: () => connection?.isLost() === false,
    writesWith: (registering) => ({ ...writes, ...registering }),
    unavailable,
  });
  const close = async (): Promise<void> => {
    await idle();
    await connection?.close();
  };
  return { write, close };
}

async function forWrites({ connect, lockMs }: WritesOptions): Promise<Connection> {
  const made = await connect();
  await made.run(`SET lock_timeout = ${lockMs}; SET idle_in_transaction_session_timeout = ${HELD_MS}`);
  return made;
}

/** Characters of a mark: it is unique. */
const MARK_LENGTH = 20;

/** How long an idle transaction may block other nodes. */
const HELD_MS = 15_000;

async function rolledBack(connection: Connection | null): Promise<void> {
  if (connection === null || connection.isLost()) return;
  await connection.run('ROLLBACK').catch(() => connection.close());
}

/** Time between two attempts to learn an outcome. */
const RETRY_MS = 100;

/**
 * Resolves if the transaction of a lost connection was committed; throws StoreUnavailable if it was not, or if that
 * cannot be known in time.
 */
async function outcomeOf(mark: string | null, options: WritesOptions, cause: unknown): Promise<void> {
  const until = performance.now() + options.outcomeMs;
  for (; performance.now() < until; await setTimeout(RETRY_MS)) {
    const isThere = mark === null ? null : await isCommitted(mark, options);
    if (isThere === true) return;
    if (isThere === false) {
      const message = 'The connection to the database of the store was lost; nothing was changed.';
      throw new StoreUnavailable('failed', message, cause);
    }
  }
  const message =
    'The connection to the database of the store was lost during the commit; whether the change was made is not known. Read the object before you try again.';
  throw new StoreUnavailable('failed', message, cause);
}

/** Whether a write with a mark was committed; null if that cannot be asked now. */
async function isCommitted(mark: string, options: WritesOptions): Promise<boolean | null> {
  let connection: Connection | null = null;
  try {
    connection = await forWrites(options);
    // The lost transaction holds this lock until it has ended, one way or the other.
    await connection.run(BEGIN);
    return (
      (await connection.run('SELECT 1 FROM changes WHERE what = $1 AND kind IS NULL', [`write ${mark}`]))
        .length > 0
    );
  } catch {
    return null;
  } finally {
    await connection?.close();
  }
}
