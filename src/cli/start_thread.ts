import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { assetOf, isSingleExecutable } from '../loading/single_executable.ts';

/**
 * Mounts the files of the single-file binary, which Node mounts for the first thread only. `ASSET` is the file to run.
 */
const MOUNT_AND_RUN = `
  const { posix } = require('node:path');
  const { getAssetKeys, getRawAsset } = require('node:sea');
  const { VirtualFileSystem } = require('node:vfs');
  const files = new VirtualFileSystem({ emitExperimentalWarning: false });
  for (const name of getAssetKeys()) {
    if (!/[.](?:[cm]?js|json)$/.test(name)) continue;
    files.mkdirSync('/' + posix.dirname(name), { recursive: true });
    files.writeFileSync('/' + name, Buffer.from(getRawAsset(name)));
  }
  files.mount();
  require(posix.join(files.mountPoint, ASSET));`;

/** Why a thread has given no answer; after an answer it may end. */
export const ENDED_EARLY =
  'a thread ended before its work was done; no program of a configuration may end the process';

/** Starts a thread that runs a module of the command. */
export function startThread(url: string, options: WorkerOptions): Worker {
  if (!isSingleExecutable) return new Worker(new URL(url), options);
  const asset = assetOf(fileURLToPath(url));
  if (asset === null) throw new Error(`${url} is not a file of the binary`);
  const code = MOUNT_AND_RUN.replace('ASSET', JSON.stringify(asset));
  return new Worker(code, { ...options, eval: true, execArgv: ['--experimental-vfs'] });
}
