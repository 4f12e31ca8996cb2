import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileError } from '../../project_files/load_config.ts';
import { availableParallelism } from 'node:os';

const SCENARIO = /\.scenario\.(?:ya?ml|json|[mc]?[jt]s)$/;
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage']);

/** The named scenario files and all scenario files in the named folders, sorted and without duplicates. */
export function findScenarioFiles(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths.length === 0 ? ['.'] : paths) {
    if (isFolder(path)) for (const file of filesBelow(path)) found.add(file);
    else found.add(path);
  }
  return [...found].sort();
}

/** The line for a run without cases. */
export function nothingSelected(files: number): string {
  return files === 0
    ? 'no case was selected: there is no file *.scenario.yaml here; `edgeproof init` writes one\n'
    : 'no case was selected: the options leave none of the cases of these files\n';
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    throw new FileError(`cannot read ${path}: there is no such file or folder`);
  }
}

function filesBelow(folder: string): string[] {
  const files: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) continue;
    const path = folder === '.' ? entry.name : join(folder, entry.name);
    if (entry.isDirectory()) files.push(...filesBelow(path));
    else if (SCENARIO.test(entry.name)) files.push(path);
  }
  return files;
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
