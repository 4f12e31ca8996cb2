import { lineOf } from './tree.ts';
import type { Breach, Rule } from './tree.ts';

/** Folders whose paths are written from the root; the rooms of `src` are also written without `src/`. */
const FROM_ROOT: ReadonlySet<string> = new Set(['src', 'docs', 'test', 'bench', 'fixtures', 'packaging']);
/** A path in a text. `<name>` and `*` are any name, `{a,b}` are two paths. */
const PATH = /(?<![\w/.@:$+-])[a-z_][a-z0-9_]*\/[\w./*<>{},-]*[\w/}*>]/g;
/** A folder of a guide's example, which its reader makes. */
const EXAMPLE = 'src/filters/require_header/';

/** Each path that a page or a comment names exists. */
export const namedPathsExist: Rule = (tree) => {
  const known = knownPaths(tree.paths);
  const rooms = new Set(tree.paths.flatMap((path) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []));
  const missing = (text: string): { at: number; path: string }[] =>
    [...text.matchAll(PATH)]
      .map((found) => ({ at: found.index, path: found[0] }))
      .filter(({ path }) => isOurs(path, rooms) && !pathsOf(path).every((each) => exists(each, known)));
  const breach = (path: string, line: number, named: string): Breach => ({
    path,
    line,
    message: `there is no ${named}; name the path as it is now, or leave it out`,
  });
  return [
    ...tree.sources.flatMap((file) =>
      file.comments.flatMap(({ value, start }) =>
        missing(value).map(({ at, path }) => breach(file.path, lineOf(file, start + 2 + at), path)),
      ),
    ),
    ...tree.markdown.flatMap((page) =>
      page.text
        .split('\n')
        .flatMap((text, index) => missing(text).map(({ path }) => breach(page.path, index + 1, path))),
    ),
  ];
};

/** Whether a text can only be a path of this project. In a room, it must end as a file or folder does. */
function isOurs(path: string, rooms: ReadonlySet<string>): boolean {
  if (path.startsWith(EXAMPLE)) return false;
  const first = path.slice(0, path.indexOf('/'));
  return FROM_ROOT.has(first) || (rooms.has(first) && /\.ts$|\/$/.test(path));
}

/** All files and folders, from the root and from `src`. */
function knownPaths(paths: readonly string[]): ReadonlySet<string> {
  const known = new Set<string>();
  for (const path of paths) {
    const parts = path.split('/');
    for (let count = 1; count <= parts.length; count++) known.add(parts.slice(0, count).join('/'));
  }
  return new Set([...known].flatMap((path) => (path.startsWith('src/') ? [path, path.slice(4)] : [path])));
}

function pathsOf(path: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(path);
  if (braces === null) return [path];
  return braces[1]!.split(',').flatMap((each) => pathsOf(path.replace(braces[0], each)));
}

/** A path without its ending is enough: `docs/decisions/0015` names a record. */
function exists(path: string, known: ReadonlySet<string>): boolean {
  const bare = path.replace(/\/$/, '');
  if (known.has(bare)) return true;
  const source = bare.replaceAll('.', String.raw`\.`).replaceAll(/<[^>]*>|\*+/g, '[^/]*');
  const pattern = new RegExp(`^${source}(?:[._].*)?$`);
  return [...known].some((each) => pattern.test(each));
}
