import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/**
 * Bytes of scenario files, times repetitions, from which threads pay off: starting a thread takes about as
 * long as running a few thousand cases.
 */
const MIN_BYTES_PER_THREAD = 1_000_000;

/** How many threads to use for these files; 1 means this thread only. */
export function jobsThatPay(files: readonly string[], repeat: number): number {
  if (files.length < 2) return 1;
  const bytes = files.reduce((sum, file) => sum + sizeOf(file), 0) * repeat;
  const jobs = Math.floor(bytes / MIN_BYTES_PER_THREAD);
  return Math.max(1, Math.min(jobs, files.length, availableParallelism()));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
