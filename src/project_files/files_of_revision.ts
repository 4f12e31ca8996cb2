import { execFileSync } from 'node:child_process';
import { matchesGlob, posix } from 'node:path';
import { errorText } from '../diagnostics/message_text.ts';
import { type NamedFiles, allowedFolders, readBelow } from './named_files.ts';

const FILE_LIMIT_BYTES = 64 * 2 ** 20;

/**
 * Files of a git revision; their names begin with it, such as `main:policy.yml`. What the revision does not have is read
 * from the working tree, because files of secrets are not committed.
 */
export function filesOfRevision(root: string, environment: NodeJS.ProcessEnv = process.env): NamedFiles {
  const { revision } = split(root);
  const folders = allowedFolders(split(root).path, environment);
  const nameOf = (from: string, named: string): string =>
    `${revision}:${posix.normalize(posix.join(posix.dirname(split(from).path), named))}`;
  return {
    nameOf,
    read: (name) => {
      const { path } = split(name);
      try {
        return { name, text: git('show', '--end-of-options', `${revision}:./${path}`) };
      } catch {
        const found = readBelow(path, folders);
        return 'problem' in found ? { ...found, problem: `${found.problem}, nor in ${revision}` } : found;
      }
    },
    matches: (from, pattern) => {
      const folder = posix.dirname(split(from).path);
      const wanted = posix.join(folder, pattern);
      return filesIn(revision)
        .filter((path) => matchesGlob(path, wanted))
        .map((path) => `${revision}:${path}`)
        .filter((name) => name !== nameOf(from, posix.basename(split(from).path)))
        .sort();
    },
    movedTo: (rootFile, from, path) => {
      const [to, own] = [rootFile, from].map((name) => posix.dirname(split(name).path)) as [string, string];
      return to === own || posix.isAbsolute(path) ? path : posix.relative(to, posix.join(own, path));
    },
    variable: (name) => environment[name],
  };
}

function split(name: string): { readonly revision: string; readonly path: string } {
  const colon = name.indexOf(':');
  return { revision: name.slice(0, colon), path: name.slice(colon + 1) };
}

function filesIn(revision: string): readonly string[] {
  try {
    return git('ls-tree', '-r', '-z', '--name-only', '--end-of-options', revision).split('\0');
  } catch (error) {
    throw new Error(`cannot list the files of ${revision}: ${errorText(error)}`, { cause: error });
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, {
    encoding: 'utf8',
    maxBuffer: FILE_LIMIT_BYTES,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
