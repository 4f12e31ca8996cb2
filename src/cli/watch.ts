import { createHash } from 'node:crypto';
import { type FSWatcher, watch as watchFolder } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Editors write a file in several steps; a change is reported when there was none for this long. */
const QUIET_MS = 30;
const POLL_MS = 300;

/**
 * Calls back when the content of a file has changed. The folder is watched, not the file, because editors
 * replace files. `poll` is for file systems without notifications.
 */
export function watchFile(path: string, changed: () => void, poll: boolean): { close: () => void } {
  let last: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;

  const look = async (): Promise<void> => {
    const now = await fingerprint(path);
    // A file that is missing for a moment is being written.
    if (now === null || now === last) return;
    const first = last === null;
    last = now;
    if (!first) changed();
  };
  void look();
  if (poll) {
    timer = setInterval(() => void look(), POLL_MS);
  } else {
    watcher = watchFolder(dirname(path), () => {
      clearTimeout(timer);
      timer = setTimeout(() => void look(), QUIET_MS);
    });
  }
  return {
    close: () => {
      clearTimeout(timer);
      watcher?.close();
    },
  };
}

async function fingerprint(path: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  } catch {
    return null;
  }
}
