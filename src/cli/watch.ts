import { type FSWatcher, statSync, watch as watchFolder } from 'node:fs';
import { readFile, readdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nodeCrypto } from '../loading/builtins.ts';

/** Editors write a file in several steps; a change is reported when there was none for this long. */
const QUIET_MS = 30;
const POLL_MS = 300;
const CLOCK_MS = 10;
/** Editors remove a file and write it again; one that is away for longer is deleted. */
const AWAY_MS = 500;

/** What was last read, and since when. */
export interface LastReading {
  /** The files that the watched one names. */
  readonly files: readonly string[];
  /** Milliseconds since the epoch. */
  readonly beganMs: number;
}

/** Events of watched files. */
export interface WatchEvents {
  readonly changed: (names: readonly string[]) => void | Promise<void>;
  /** Called once for each deletion. */
  readonly deleted: (name: string) => void;
}

/**
 * Calls back when the content of a file has changed, or that of the other files that it names now. Folders are watched,
 * not files, because editors replace files. `poll` is for file systems without notifications.
 */
export function watchFile(
  path: string,
  { changed, deleted }: WatchEvents,
  poll: boolean,
  reading?: () => LastReading,
): { close: () => void } {
  /** Contents when they were last seen; null for a file that was named and never seen. */
  let last: ReadonlyMap<string, string | null> | null = null;
  const away = awayFiles(deleted);
  const begun: LastReading = { files: [], beganMs: Date.now() };
  const lastReading = reading ?? (() => begun);

  const look = async (): Promise<number | null> => {
    if (!poll) folders.watch(lastReading().files);
    const { files, beganMs } = lastReading();
    const names = new Set([path, ...files]);
    const now = new Map(await Promise.all(Array.from(names, printOf)));
    const before = last ?? new Map<string, string | null>();
    // A file that is missing for a moment is being written.
    last = new Map(Array.from(now, ([name, print]) => [name, print ?? before.get(name) ?? null]));
    const gone = Array.from(now.keys()).filter(
      (name) => now.get(name) === null && typeof before.get(name) === 'string',
    );
    const areUnreported = away(gone);
    // A file that is seen for the first time has changed if it was written after it was read.
    const news = Array.from(last).filter(([name, print]) =>
      before.has(name) ? before.get(name) !== print : print !== null && isWrittenSince(name, beganMs),
    );
    if (news.length > 0) {
      await changed(news.map(([name]) => name));
      return QUIET_MS;
    }
    if (poll) return POLL_MS;
    return areUnreported ? AWAY_MS : null;
  };
  const looks = oneAtATime(look);
  const folders = watchedFolders(path, looks.soon);
  // Here, so that the caller gets the error if the folder is missing.
  if (!poll) folders.watch(lastReading().files);
  looks.begin();
  return {
    close: () => {
      looks.close();
      folders.close();
    },
  };
}

/**
 * Runs looks one at a time: of two at once, each would compare files with what the other has just read. A look returns the
 * milliseconds until the next one; null if only `soon` leads to one.
 */
function oneAtATime(look: () => Promise<number | null>): {
  readonly begin: () => void;
  readonly soon: () => void;
  readonly close: () => void;
} {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isLooking = false;
  /** Whether another look was asked for during one. */
  let isDue = false;

  const lookNow = async (): Promise<void> => {
    isLooking = true;
    isDue = false;
    try {
      const delayMs = await look();
      if (isDue) later(QUIET_MS);
      else if (delayMs !== null) later(delayMs);
    } finally {
      isLooking = false;
    }
  };
  const later = (delayMs: number): void => {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void lookNow(), delayMs);
  };
  return {
    begin: () => void lookNow(),
    soon: () => {
      if (isLooking) isDue = true;
      else later(QUIET_MS);
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Watches the folders of a file and of those that it names. */
function watchedFolders(
  path: string,
  notified: () => void,
): { readonly watch: (files: readonly string[]) => void; readonly close: () => void } {
  const watchers = new Map<string, FSWatcher>();
  return {
    watch: (files) => {
      for (const folder of new Set([path, ...files].map((name) => dirname(name)))) {
        if (watchers.has(folder)) continue;
        try {
          const watcher = watchFolder(folder, notified);
          watcher.on('error', () => watcher.close());
          watchers.set(folder, watcher);
        } catch (error) {
          // A file is named in a folder that does not exist yet.
          if (folder === dirname(path)) throw error;
        }
      }
    },
    close: () => {
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

/**
 * Reports files that are away for longer than a replacement takes, once each. The function takes those that are away
 * now, and returns whether some are not reported yet.
 */
function awayFiles(deleted: (name: string) => void): (now: readonly string[]) => boolean {
  const since = new Map<string, number>();
  const reported = new Set<string>();
  return (now) => {
    const names = new Set(now);
    for (const name of [...since.keys(), ...reported]) {
      if (names.has(name)) continue;
      since.delete(name);
      reported.delete(name);
    }
    const nowMs = performance.now();
    for (const name of names) {
      if (reported.has(name)) continue;
      const sinceMs = since.get(name) ?? nowMs;
      since.set(name, sinceMs);
      if (nowMs - sinceMs < AWAY_MS) continue;
      reported.add(name);
      deleted(name);
    }
    return reported.size < names.size;
  };
}

async function printOf(path: string): Promise<readonly [path: string, print: string | null]> {
  return [path, await fingerprint(path)];
}

/**
 * A hash of a file, or of the names in a folder; null if there is none. Pipes and devices count as none: reading one may
 * never end, and a process with such a read cannot end either.
 */
async function fingerprint(path: string): Promise<string | null> {
  const hash = nodeCrypto().createHash('sha256');
  const known = await stat(path).catch(() => null);
  if (known?.isFile() === true)
    return readFile(path).then(
      (bytes) => hash.update(bytes).digest('hex'),
      () => null,
    );
  if (known?.isDirectory() !== true) return null;
  const names: readonly string[] = await readdir(path).catch(() => []);
  return hash.update(names.toSorted().join('\n')).digest('hex');
}

/** Whether a file was written after a time, which file systems know with some milliseconds. */
function isWrittenSince(path: string, timeMs: number): boolean {
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return written > timeMs - CLOCK_MS;
}
