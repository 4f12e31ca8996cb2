import { DatabaseSync } from 'node:sqlite';
import { type Store, type View } from './port.ts';
import { unavailable } from './sqlite_faults.ts';
import { sqliteView } from './sqlite_view.ts';

interface Reads {
  readonly read: Store['read'];
  /** Resolves when the reads so far have ended. */
  readonly idle: () => Promise<void>;
}

/**
 * Runs reads one after the other. Those of one turn of the event loop share a snapshot, as long as nothing was
 * committed since it was taken: a transaction costs as much as a read.
 */
export function snapshots(database: DatabaseSync, commits: () => number): Reads {
  const view = sqliteView(database);
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');
  let takenAt = 0;
  let [isReading, isOld] = [false, false];
  const take = (): void => {
    if (database.isTransaction && takenAt === commits()) return;
    end();
    takenAt = commits();
    begin.run();
    isOld = false;
    setImmediate(() => {
      isOld = true;
      if (!isReading) end();
    });
  };
  const end = (): void => {
    if (database.isOpen && database.isTransaction) commit.run();
  };
  const within = async <Answer>(work: (view: View) => Promise<Answer>): Promise<Answer> => {
    isReading = true;
    try {
      take();
      return await work(view);
    } catch (error) {
      isOld = true;
      throw unavailable(error);
    } finally {
      isReading = false;
      if (isOld) end();
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    read: (work) => {
      const answer = last.then(() => within(work));
      last = answer.catch(() => undefined);
      return answer;
    },
    idle: async () => void (await last),
  };
}

/** Runs reads on connections of their own. */
export function longReads(path: string): Reads {
  const running = new Set<Promise<unknown>>();
  return {
    read: (work) => {
      const answer = onOwnConnection(path, work);
      const ended = answer.catch(() => undefined).finally(() => running.delete(ended));
      running.add(ended);
      return answer;
    },
    idle: async () => void (await Promise.all(running)),
  };
}

async function onOwnConnection<Answer>(path: string, work: (view: View) => Promise<Answer>): Promise<Answer> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    database.exec('BEGIN');
    return await work(sqliteView(database));
  } catch (error) {
    throw unavailable(error);
  } finally {
    database?.close();
  }
}
