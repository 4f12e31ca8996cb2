import type { Breach, Rule } from './tree.ts';

const BANNED = /^(?:utils?|common|helpers?|shared|lib|types|services?|core|misc)$/;
const SNAKE = /^[a-z0-9_]+$/;
/** Files whose names others give: those of Git, of GitHub, of npm, of linters. */
const GIVEN = /^(?:README\.md|CHANGELOG\.md|CONTRIBUTING\.md|RESULTS\.md|LICENSE|package-lock\.json|\..*)$/;

/** No folder or file collects what has no other place; `types.ts` may be about the types of a language. */
export const nothingIsCalledUtils: Rule = (tree) =>
  namesOf(tree.paths).flatMap(({ path, name }) => {
    const stem = name.split('.')[0]!;
    if (!path.startsWith('src/') || !BANNED.test(stem) || name === 'types.ts') return [];
    return [
      {
        path,
        line: 1,
        message: `'${stem}' says nothing of its content; a function without a home means a room is missing`,
      },
    ];
  });

/** Files and folders are written in snake_case, so that one word is one string everywhere. */
export const namesAreSnakeCase: Rule = (tree) =>
  namesOf(tree.paths).flatMap(({ path, name }): Breach[] => {
    if (GIVEN.test(name) || name.split('.').every((part) => SNAKE.test(part))) return [];
    return [
      { path, line: 1, message: `'${name}' is not snake_case: lower-case letters, digits and underscores` },
    ];
  });

/** Folders of tests about what is not below `src`. */
const BESIDE_ROOMS: ReadonlySet<string> = new Set(['bench', 'docs', 'package', 'tidy']);

/** The tests of a room are in the folder of its name, so that they are found and run together. */
export const testsMirrorRooms: Rule = ({ paths }) => {
  const rooms = new Set(paths.flatMap((path) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []));
  return paths.flatMap((path) => {
    const folder = /^test\/([^/]+)\//.exec(path)?.[1];
    if (folder === undefined || rooms.has(folder) || BESIDE_ROOMS.has(folder)) return [];
    return [{ path, line: 1, message: `there is no src/${folder}; move it to the tests of a room` }];
  });
};

/** Each folder and file once, with the path it has. */
function namesOf(paths: readonly string[]): { path: string; name: string }[] {
  const all = new Set(
    paths.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))),
  );
  return Array.from(all, (path) => ({ path, name: path.slice(path.lastIndexOf('/') + 1) }));
}
