import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Checked, type FurtherCheck, checkEdge } from '../edge/document/check.ts';

/** A file that cannot be read at all; the message is for the user. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

export const SCRIPTS: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs']);
/** The module names whose configs hold what `edge/further_checks.ts` checks. */
const LANGUAGES_INSIDE = /traffic_policy|webhook_verification/;
let loads = 0;

/** Reads and checks an edge file: YAML, JSON, or a TypeScript or JavaScript module with a default export. */
export async function loadConfig(path: string): Promise<Checked> {
  if (SCRIPTS.has(extname(path))) return checkConfigValue(await importDefault(path));
  const text = await readText(path);
  // Most files hold no policy, and the code that understands policies takes longer to load than all the rest.
  const further = LANGUAGES_INSIDE.test(text) ? await furtherChecks() : [];
  return checkEdge({ name: path, text }, further);
}

/** Checks an edge that was handed over as an object. */
export async function checkConfigValue(value: unknown): Promise<Checked> {
  return checkEdge({ value }, await furtherChecks());
}

/** The text of a file, or a FileError. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new FileError(`cannot read ${path}: ${reasonOf(error)}`);
  }
}

async function furtherChecks(): Promise<readonly FurtherCheck[]> {
  return (await import('../edge/further_checks.ts')).FURTHER_CHECKS;
}

/** The default export of a module, loaded anew. */
export async function importDefault(path: string): Promise<unknown> {
  const url = pathToFileURL(resolve(path));
  // A module is loaded once a URL; a reload needs another one.
  url.searchParams.set('load', String(++loads));
  let module: { readonly default?: unknown };
  try {
    module = (await import(url.href)) as typeof module;
  } catch (error) {
    throw new FileError(`cannot load ${path}: ${reasonOf(error)}`);
  }
  if (module.default === undefined) throw new FileError(`${path} has no default export`);
  return module.default;
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'EACCES') return 'permission denied';
  return error instanceof Error ? error.message : String(error);
}
