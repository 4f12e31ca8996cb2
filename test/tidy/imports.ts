import { posix } from 'node:path';
import { ANYTHING, ROOMS, mayImport, placeOf } from './rooms.ts';
import { lineOf } from './tree.ts';
import type { Breach, Import, Rule, SourceFile, Tree } from './tree.ts';

/** The path that a relative specifier means, from the root of the project. */
export function targetOf(from: string, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(from), specifier));
}

/** Rooms import only what the table lists. */
export const roomsKeepToTheirImports: Rule = (tree) =>
  eachImport(tree, (file, specifier) => {
    const from = placeOf(file.path);
    if (from === null || !specifier.startsWith('.')) return null;
    const allowed = ROOMS[from.room];
    if (allowed === undefined) {
      return `src/${from.room} is not a room of the table; list it in test/tidy/rooms.ts, or use a room that exists`;
    }
    const path = targetOf(file.path, specifier);
    const to = placeOf(path);
    if (to === null)
      return `${path} is outside of src; only tests and benches may import it, never the reverse`;
    if (mayImport(from.room, to.room)) return null;
    const may = Array.isArray(allowed) && allowed.length > 0 ? allowed.join(', ') : 'nothing of ours';
    return `${from.room} may not import ${to.room}, only ${may}; pass what is needed as an argument, or move it down`;
  });

/** Faces of filters do not know each other. */
export const siblingsStayApart: Rule = (tree) =>
  eachImport(tree, (file, specifier) => {
    const from = placeOf(file.path);
    if (from === null || from.sibling === null || !specifier.startsWith('.')) return null;
    const to = placeOf(targetOf(file.path, specifier));
    if (to === null || to.room !== from.room || to.sibling === from.sibling) return null;
    return `${from.sibling} may not import its sibling ${to.sibling}; what both need belongs in an algorithm, or in src/filters`;
  });

/** The table names no room that does not exist, and the rights of the rooms have no circle. */
export const roomsAreThere: Rule = (tree) => {
  const path = 'test/tidy/rooms.ts';
  const there = new Set(tree.sources.flatMap((file) => placeOf(file.path)?.room ?? []));
  const breaches = Object.keys(ROOMS)
    .filter((room) => !there.has(room))
    .map((room) => ({ path, line: 1, message: `${room} has no file; remove it from the table` }));
  const visit = (room: string, trail: readonly string[]): void => {
    if (trail.includes(room)) {
      breaches.push({ path, line: 1, message: `a circle of rights: ${[...trail, room].join(' → ')}` });
      return;
    }
    const allowed = ROOMS[room] ?? [];
    if (allowed === ANYTHING) return;
    for (const next of allowed) if (!settled.has(next)) visit(next, [...trail, room]);
    settled.add(room);
  };
  const settled = new Set<string>();
  for (const room of Object.keys(ROOMS)) visit(room, []);
  return breaches;
};

/** Only the command line loads modules by a name that is not written out. */
export const importsAreLiteral: Rule = (tree) =>
  tree.sources.flatMap((file) =>
    file.imports
      .filter(({ specifier }) => specifier === null && /^src\/(?!cli\/|project_files\/)/.test(file.path))
      .map((found) =>
        breachAt(file, found, "import() of an expression hides who is imported; write import('literal')"),
      ),
  );

/** No file imports itself, directly or through others. */
export const importsHaveNoCycles: Rule = (tree) => {
  const byPath = new Map(tree.sources.map((file) => [file.path, file]));
  const done = new Set<string>();
  const breaches: Breach[] = [];
  const visit = (file: SourceFile, trail: readonly string[]): void => {
    done.add(file.path);
    for (const found of file.imports) {
      const path = found.specifier?.startsWith('.') === true ? targetOf(file.path, found.specifier) : '';
      const start = [...trail, file.path].indexOf(path);
      if (start >= 0) {
        const circle = [...trail, file.path].slice(start).concat(path).join(' → ');
        const message = `a circle of imports: ${circle}; move what both need into a file of its own`;
        breaches.push(breachAt(file, found, message));
        continue;
      }
      const next = byPath.get(path);
      if (next !== undefined && !done.has(path)) visit(next, [...trail, file.path]);
    }
  };
  for (const file of tree.sources) if (!done.has(file.path)) visit(file, []);
  return breaches;
};

function eachImport(tree: Tree, check: (file: SourceFile, specifier: string) => string | null): Breach[] {
  return tree.sources.flatMap((file) =>
    file.imports.flatMap((found) => {
      const message = found.specifier === null ? null : check(file, found.specifier);
      return message === null ? [] : [breachAt(file, found, message)];
    }),
  );
}

function breachAt(file: SourceFile, { offset }: Import, message: string): Breach {
  return { path: file.path, line: lineOf(file, offset), message };
}
