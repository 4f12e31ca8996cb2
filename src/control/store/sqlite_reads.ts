import { DatabaseSync } from 'node:sqlite';
import { type Store, type View } from './port.ts';
import { unavailable } from './sqlite_faults.ts';
import type { ResourceObject } from '../resources/contract.ts';
import { jsonLength, sqliteView } from './sqlite_view.ts';

interface Reads {
  readonly read: Store['read'];
  /** Resolves when the reads so far have ended. */
  readonly idle: () => Promise<void>;
}

/**
 * Runs reads one after the other. Those of one turn of the event loop share a snapshot, as long as nothing was
 * committed since it was taken: a transaction costs as much as a read. What was read is remembered until anything is
 * written, also by another process.
 */
export function snapshots(database: DatabaseSync, commits: () => number): Reads {
  const { view, forget } = remembering(sqliteView(database));
  const begin = database.prepare('BEGIN');
  // Changes with every commit of another connection, and this one writes nothing.
  const version = database.prepare('PRAGMA data_version');
  let seen: unknown;
  const commit = database.prepare('COMMIT');
  let takenAt = 0;
  let [isReading, isOld] = [false, false];
  const take = (): void => {
    if (database.isTransaction && takenAt === commits()) return;
    end();
    takenAt = commits();
    begin.run();
    const now = version.get()?.['data_version'];
    if (now !== seen) forget();
    seen = now;
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

/** A view that reads each object, claim and page once, until it forgets. Objects that were read never change. */
function remembering(view: View): { readonly view: View; readonly forget: () => void } {
  const objects = memory<ResourceObject | null>((object) => (object === null ? 0 : jsonLength(object)));
  const claims = memory<string | null>(() => 0);
  const pages = memory<readonly ResourceObject[]>((page) =>
    page.reduce((sum, object) => sum + jsonLength(object), 0),
  );
  return {
    view: {
      ...view,
      get: (id) => objects.of(id, () => view.get(id)),
      claimant: (claim) => claims.of(`${claim.space} ${claim.value}`, () => view.claimant(claim)),
      list: (kind, page) =>
        pages.of(`${kind} ${page.parent} ${page.beforeId} ${page.limit}`, () => view.list(kind, page)),
    },
    forget: () => {
      for (const each of [objects, claims, pages]) each.forget();
    },
  };
}

/** What a memory has at most, in characters of JSON; beyond it, all is forgotten. */
const MEMORY_LENGTH = 2 * 1024 * 1024;
/** A longer answer is not remembered. */
const ANSWER_LENGTH = MEMORY_LENGTH / 8;
/** What an entry takes besides its JSON. */
const ENTRY_LENGTH = 200;

function memory<Answer>(lengthOf: (answer: Answer) => number) {
  const known = new Map<string, Promise<Answer>>();
  let length = 0;
  const forget = (): void => {
    known.clear();
    length = 0;
  };
  const keep = (key: string, answer: Promise<Answer>, own: number): void => {
    if (own > ANSWER_LENGTH) return;
    if (length + own > MEMORY_LENGTH) forget();
    known.set(key, answer);
    length += own;
  };
  return {
    forget,
    of: (key: string, read: () => Promise<Answer>): Promise<Answer> => {
      const before = known.get(key);
      if (before !== undefined) return before;
      const answer = read();
      const kept = answer.then((value) => keep(key, answer, lengthOf(value) + key.length + ENTRY_LENGTH));
      kept.catch(() => undefined);
      return answer;
    },
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
