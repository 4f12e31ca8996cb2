import type { Store, View } from './port.ts';
import { BEGIN_SNAPSHOT, type Connection } from './postgres_connection.ts';
import { unavailable } from './postgres_faults.ts';
import { postgresView } from './postgres_view.ts';

/** Connections for reads; more reads wait. */
const READERS = 4;
/** Those for work that takes long. */
const LONG_READERS = 2;

/** Reads of a store, each on a snapshot. */
export interface PostgresReads {
  readonly read: Store['read'];
  readonly close: () => Promise<void>;
}

/** A few connections for short reads. */
export const shortReads = (connect: () => Promise<Connection>): PostgresReads => readsOn(connect, READERS);
/** Other ones for long reads, so that short ones do not wait for them. */
export const longReads = (connect: () => Promise<Connection>): PostgresReads =>
  readsOn(connect, LONG_READERS);

function readsOn(connect: () => Promise<Connection>, limit: number): PostgresReads {
  const free: Connection[] = [];
  const waiting: (() => void)[] = [];
  const running = new Set<Promise<unknown>>();
  let used = 0;

  const taken = async (): Promise<void> => {
    if (used >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else used++;
  };
  const given = (): void => {
    const next = waiting.shift();
    if (next === undefined) used--;
    else next();
  };
  const within = async <Answer>(work: (view: View) => Promise<Answer>): Promise<Answer> => {
    await taken();
    let connection: Connection | undefined;
    try {
      connection = await begun(free, connect);
      return await work(postgresView(connection));
    } catch (error) {
      throw unavailable(error);
    } finally {
      // Nothing was written: how the snapshot ends makes no difference to the answer.
      await connection?.run('ROLLBACK').catch(() => connection!.close());
      if (connection !== undefined && !connection.isLost()) free.push(connection);
      given();
    }
  };
  return {
    read: (work) => {
      const answer = within(work);
      const ended = answer.catch(() => undefined).finally(() => running.delete(ended));
      running.add(ended);
      return answer;
    },
    close: async () => {
      await Promise.all(running);
      await Promise.all(free.map((connection) => connection.close()));
    },
  };
}

/** A connection with an open snapshot; those that were cut while they were idle are replaced. */
async function begun(free: Connection[], connect: () => Promise<Connection>): Promise<Connection> {
  for (let idle = free.pop(); idle !== undefined; idle = free.pop()) {
    if (idle.isLost()) continue;
    try {
      await idle.begin(BEGIN_SNAPSHOT);
      return idle;
    } catch (error) {
      if (!idle.isLost() || idle.isSilent()) throw error;
    }
  }
  const made = await connect();
  await made.begin(BEGIN_SNAPSHOT);
  return made;
}
