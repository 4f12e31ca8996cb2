import { open } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

/** Changed rows from which a transaction is large: its commit would take more than some milliseconds. */
const LARGE = 2_000;

/** Pages in the log after which SQLite copies them to the database, as part of a commit; its default. */
const CHECKPOINT_PAGES = 1_000;

/** Copies what is in the log to the database, again if readers were in the way. It holds up neither reads nor writes. */
const CHECKPOINT = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(require('node:worker_threads').workerData);
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  for (let attempt = 0; attempt < 20; attempt++) {
    const { log, checkpointed } = checkpoint.get();
    if (log === checkpointed) break;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  database.close();`;

/** Keeps the commits of large transactions short. */
export interface LargeCommits {
  /** A transaction has begun. */
  readonly begun: () => void;
  /** Prepares the commit of the transaction. */
  readonly prepared: () => Promise<void>;
  /** The transaction has ended. */
  readonly ended: () => void;
  /** Resolves when nothing is being copied. */
  readonly idle: () => Promise<void>;
}

/**
 * What a large transaction has written to the log is synced to the disk before the commit, by a thread of the pool, and
 * copied to the database after it, by a thread of its own. In a commit, both would hold up the event loop for as long as
 * there is much to write.
 */
export function largeCommits(database: DatabaseSync, path: string): LargeCommits {
  const changes = database.prepare('SELECT total_changes() AS count');
  const count = (): number => Number(changes.get()!['count']);
  const checkpointAfter = (pages: number): void => database.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
  let before = 0;
  let isLarge = false;
  let copying: Promise<void> = Promise.resolve();
  let ahead = 0;
  const copyAfter = async (last: Promise<void>): Promise<void> => {
    ahead++;
    await last;
    await copied(path);
    ahead--;
    if (ahead === 0 && database.isOpen) checkpointAfter(CHECKPOINT_PAGES);
  };
  return {
    begun: () => {
      before = count();
    },
    prepared: async () => {
      if (count() - before < LARGE) return;
      isLarge = true;
      checkpointAfter(0);
      await synced(`${path}-wal`);
    },
    ended: () => {
      if (!isLarge) return;
      isLarge = false;
      copying = copyAfter(copying);
    },
    idle: () => copying,
  };
}

/** Syncs a file to the disk; if that fails, the commit does it, and fails if it cannot. */
async function synced(path: string): Promise<void> {
  const file = await open(path, 'r+').catch(() => null);
  if (file === null) return;
  await file.datasync().catch(() => undefined);
  await file.close();
}

/** Resolves when the log was copied, or cannot be: then a later commit copies it. */
function copied(path: string): Promise<void> {
  return new Promise((resolve) => {
    const thread = new Worker(CHECKPOINT, { eval: true, workerData: path });
    thread.once('error', () => undefined);
    thread.once('exit', () => resolve());
  });
}
