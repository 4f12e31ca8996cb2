import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError } from '../load_config.ts';

const SCENARIO = /\.scenario\.(?:ya?ml|json|[mc]?[jt]s)$/;
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage']);

/** Scenario files: those named, and all in the folders named; sorted, each once. */
export async function findScenarioFiles(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const path of paths.length === 0 ? ['.'] : paths) {
    if (await isFolder(path)) for (const file of await filesBelow(path)) found.add(file);
    else found.add(path);
  }
  return [...found].sort();
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    throw new FileError(`cannot read ${path}: there is no such file or folder`);
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) continue;
    const path = folder === '.' ? entry.name : join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path)));
    else if (SCENARIO.test(entry.name)) files.push(path);
  }
  return files;
}
