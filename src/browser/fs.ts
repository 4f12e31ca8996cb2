/** The part of `node:fs` that the loaders use, over files in memory. */
import { basename, dirname, resolve } from './path.ts';

/** Text by absolute path. */
let files: ReadonlyMap<string, string> = new Map();

/** Replaces all files; names are relative to the root. */
export function setFiles(texts: Readonly<Record<string, string>>): void {
  files = new Map(Object.entries(texts).map(([name, text]) => [resolve('/', name), text]));
}

export function existsSync(name: string): boolean {
  return files.has(resolve('/', name));
}

export function readFileSync(name: string): Buffer;
export function readFileSync(name: string, encoding: 'utf8'): string;
export function readFileSync(name: string, encoding?: 'utf8'): Buffer | string {
  const text = files.get(resolve('/', name));
  if (text === undefined) throw Object.assign(new Error(`there is no file ${name}`), { code: 'ENOENT' });
  return encoding === 'utf8' ? text : Buffer.from(text, 'utf8');
}

export function statSync(name: string): {
  readonly isCharacterDevice: () => boolean;
  readonly isBlockDevice: () => boolean;
  readonly isFile: () => boolean;
  readonly size: number;
} {
  const size = readFileSync(name).length;
  return { isCharacterDevice: () => false, isBlockDevice: () => false, isFile: () => true, size };
}

/** Only what is not a file is opened. */
export function openSync(name: string): never {
  throw new Error(`${name} is not a file`);
}

export const readSync = openSync;
export const closeSync = openSync;

export function readdirSync(name: string): string[] {
  const folder = resolve('/', name);
  return Array.from(files.keys()).flatMap((path) => (dirname(path) === folder ? [basename(path)] : []));
}

export function realpathSync(name: string): string {
  const path = resolve('/', name);
  if (!files.has(path)) readFileSync(path, 'utf8');
  return path;
}

/** Absolute paths; of the syntax of patterns `*`, `**` and `?`. */
export function globSync(pattern: string, { cwd }: { readonly cwd: string }): string[] {
  const escaped = resolve('/', cwd, pattern).replaceAll(/[.+^$()|[\]{}\\]/g, '\\$&');
  const source = escaped.replaceAll(/\*\*\/|\*\*|\*|\?/g, (part) => WILDCARDS[part]!);
  const matching = new RegExp(`^${source}$`);
  return Array.from(files.keys()).filter((path) => matching.test(path));
}

const WILDCARDS: Readonly<Record<string, string>> = {
  '**/': '(?:.*/)?',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};
