import { type Worker, isMainThread, workerData } from 'node:worker_threads';
import { startThread } from './start_thread.ts';

/** What tells this thread from others that load this file. */
const CHECKS = 'checks for an editor';

/** Starts the thread that checks texts for an editor. */
export function startChecker(): Worker {
  return startThread(import.meta.url, {
    workerData: CHECKS,
    // What a thread prints would be read as the protocol.
    stdout: true,
    // More space for the young would be kept between checks.
    resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 6 },
  });
}

if (!isMainThread && workerData === CHECKS) {
  void import('../lsp/check_thread.ts').then(({ serveChecks }) => serveChecks());
}
