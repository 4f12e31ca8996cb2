import { type FileHandle, constants, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { endsWithinLine } from './line_file.ts';

export interface FileSettings {
  readonly name: string;
  readonly max_bytes: number;
  readonly max_files: number;
}

/** Appends lines to a file. */
export interface LineFile {
  /** Null if the lines are on disk, otherwise the problem. */
  readonly append: (lines: readonly string[]) => Promise<string | null>;
  readonly close: () => Promise<void>;
}

const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY = 0o600;
// Does not follow links, and does not block on pipes.
const APPENDING =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * One JSON object per line, flushed to disk before it counts as delivered. Each destination has its own
 * folder, named after its id, in the folder allowed by the operator, so that names chosen by API keys cannot
 * collide with other files. Full files are renamed to `name.1`.
 */
export function lineFile(folder: string, id: string, settings: FileSettings): LineFile {
  const { name, max_bytes: limitBytes, max_files: kept } = settings;
  const own = join(folder, id);
  const path = join(own, name);
  let handle: FileHandle | null = null;
  let bytes = 0;
  /** A write was interrupted, perhaps one of an earlier process: the next lines must start on a new line. */
  let isTorn = false;

  async function opened(): Promise<FileHandle> {
    if (handle !== null && (await isInPlace(handle, path))) return handle;
    await handle?.close();
    handle = null;
    await mkdir(own, { recursive: true, mode: OWNER_ONLY_FOLDER });
    if (!(await lstat(own)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    const file = await open(path, APPENDING, OWNER_ONLY);
    const stat = await file.stat();
    if (!stat.isFile() || stat.nlink !== 1) {
      await file.close();
      throw Object.assign(new Error(), { code: 'EEXIST' });
    }
    bytes = stat.size;
    isTorn ||= await endsWithinLine(file, bytes);
    return (handle = file);
  }

  async function rotate(): Promise<void> {
    await handle?.close();
    handle = null;
    await rm(kept === 0 ? path : `${path}.${kept}`, { force: true });
    for (let number = kept - 1; number >= 0; number--) {
      const from = number === 0 ? path : `${path}.${number}`;
      await rename(from, `${path}.${number + 1}`).catch(() => {});
    }
  }

  return {
    append: async (lines) => {
      try {
        const whole = lines.map((line) => `${line}\n`).join('');
        await opened();
        const size = Buffer.byteLength(whole) + 1;
        // Attempts to write to a full disk must not move full files out, one by one.
        if (bytes > 0 && bytes + size > limitBytes && !isTorn) await rotate();
        const file = await opened();
        const text = isTorn && bytes > 0 ? `\n${whole}` : whole;
        isTorn = true;
        await file.appendFile(text);
        await file.datasync();
        bytes += size;
        isTorn = false;
        return null;
      } catch (error) {
        await handle?.close().catch(() => {});
        handle = null;
        // The system's message contains the path, which readers of the status must not see.
        return `the file cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
      }
    },
    close: async () => {
      await handle?.close();
      handle = null;
    },
  };
}

/** The operator may remove or rename the file while it is open; what is written to it then would be lost. */
async function isInPlace(file: FileHandle, path: string): Promise<boolean> {
  const [held, there] = await Promise.all([file.stat(), lstat(path).catch(() => null)]);
  return there?.ino === held.ino && there.dev === held.dev;
}
