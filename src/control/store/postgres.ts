import { hostname } from 'node:os';
import { secretText } from '../../crypto/random.ts';
import { type Connection, type LinkTimes, connect } from './postgres_connection.ts';
import { reasonOf } from './postgres_faults.ts';
import { newFollowing } from './postgres_following.ts';
import { linkTo } from './postgres_link.ts';
import { longReads, shortReads } from './postgres_reads.ts';
import { migratePostgres } from './postgres_schema.ts';
import { postgresWrites } from './postgres_writes.ts';
import { type Store, StoreError, StoreUnavailable } from './port.ts';

/** How a store in PostgreSQL is used; all have defaults. */
export interface PostgresOptions extends Partial<LinkTimes> {
  /** How long a write waits for one of another node; default 5,000 ms. */
  readonly lockMs?: number;
  /** Time between two looks at the revision; default 1,000 ms. */
  readonly pollMs?: number;
  /** Whether other nodes wake this one; default true. */
  readonly listens?: boolean;
}

const CONNECT_MS = 5_000;
const BEGIN_MS = 3_000;
const ANSWER_MS = 10_000;
const LOCK_MS = 5_000;
const POLL_MS = 1_000;

/** Whether a store is a database of PostgreSQL rather than a file. */
export const isPostgres = (place: string): boolean => /^postgres(?:ql)?:\/\//.test(place);

/** The name of a store for messages: without a password, and without parameters. */
export function storeName(place: string): string {
  if (!isPostgres(place)) return place;
  const url = URL.parse(place);
  return url === null ? 'postgres://…' : `postgres://${url.host}${url.pathname}`;
}

/**
 * Opens a store in a database of PostgreSQL, in the schema that comes first in its search path, and makes its tables
 * if needed. Throws StoreUnavailable if it cannot be reached, and StoreError if it belongs to another application, or
 * has a newer version.
 */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<Store> {
  const { connectMs = CONNECT_MS, beginMs = BEGIN_MS } = options;
  const { answerMs = ANSWER_MS, lockMs = LOCK_MS } = options;
  const { pollMs = POLL_MS, listens = true } = options;
  // The answer of a statement that waits for a lock comes after the lock.
  const times = { connectMs, beginMs, answerMs: answerMs + lockMs };
  const connecting = (): Promise<Connection> => connect(url, times);
  const name = storeName(url);
  await prepared(connecting, name);
  const [short, long] = [shortReads(connecting), longReads(connecting)];
  const following = newFollowing();
  const link = linkTo(following, { connect: connecting, nodeId: nodeName(), pollMs, listens });
  const writing = postgresWrites({ connect: connecting, lockMs, outcomeMs: answerMs, following });
  return {
    read: short.read,
    readLong: long.read,
    write: writing.write,
    close: async () => {
      await link.close();
      await Promise.all([short.close(), long.close(), writing.close()]);
    },
    nodes: {
      revision: following.revision,
      follow: (from, apply) => {
        following.follow(from, apply);
        link.start();
      },
      ageMs: link.ageMs,
      leads: link.leads,
      onLead: link.onLead,
      everywhere: link.everywhere,
    },
  };
}

const nodeName = (): string => `${hostname()} ${process.pid} ${secretText(8)}`;

/** Makes the tables of a store if needed. */
async function prepared(connecting: () => Promise<Connection>, name: string): Promise<void> {
  let connection: Connection | undefined;
  try {
    connection = await connecting();
    await migratePostgres(connection, name);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    if (!(error instanceof StoreUnavailable))
      throw new StoreError(`cannot open the store ${name}: ${reasonOf(error)}`, { cause: error });
    const { why, cause } = error;
    const message = `cannot open the store ${name}: ${reasonOf(cause ?? error)}; start its database, or correct its address`;
    throw new StoreUnavailable(why, message, cause);
  } finally {
    await connection?.close();
  }
}
