import { statSync } from 'node:fs';
import { mustExist, namedFiles } from '../named_files.ts';
import { availableParallelism } from 'node:os';

const SCENARIO = /\.scenario\.(?:ya?ml|json|[mc]?[jt]s)$/;

/** The named scenario files, and those in the named folders and patterns, sorted and without duplicates. */
export async function findScenarioFiles(paths: readonly string[]): Promise<string[]> {
  const files = await namedFiles(paths.length === 0 ? ['.'] : paths, (path) => SCENARIO.test(path));
  for (const file of files) mustExist(file);
  return files;
}

/** The line for a run without cases. */
export function nothingSelected(files: number): string {
  return files === 0
    ? 'no case was selected: there is no file *.scenario.yaml here; `edgeproof init` writes one\n'
    : 'no case was selected: the options leave none of the cases of these files\n';
}

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
