import { targetOf } from './imports.ts';
import type { Rule, Tree } from './tree.ts';

/** Where use begins: what the package exports and runs. */
const ROOTS = [
  'src/index.ts',
  'src/cel/index.ts',
  'src/integrations/testing/node_test.ts',
  'src/integrations/testing/vitest.ts',
  'src/cli/main.ts',
  // Files of pages, by rolldown.pages.ts.
  'src/inspector/ui/page.tsx',
  'src/playground/worker.ts',
  'src/playground/ui/page.tsx',
  'src/reports/ui/page.tsx',
  'src/browser/buffer.ts',
  'src/browser/builtins.ts',
  'src/browser/crypto.ts',
  'src/browser/path.ts',
  'src/browser/process.ts',
  'src/browser/style_text.ts',
  'src/browser/url.ts',
  'src/browser/zlib.ts',
];

/**
 * Files, or folders with a slash at the end, that nothing in `src` needs, and the folder outside of it whose imports
 * count for them.
 */
// table: what is used outside of src only
const USED_OUTSIDE: Readonly<Record<string, 'test/' | 'bench/' | 'docs/'>> = {
  'src/edge/document/schema.ts': 'docs/',
  'src/policy/env/reference_page.ts': 'docs/',
  'src/webhooks/document.ts': 'docs/',
  'src/policy/document/schema.ts': 'docs/',
  'src/simulator/document/schema.ts': 'docs/',
};

/** Rooms that are built before anything uses them, and what they wait for. One that waits no more has to go. */
// table: what is not wired yet
const WAITING: Readonly<Record<string, string>> = {};

/** The rules about dead files, with the places that wait. */
export function deadFileRules(waiting: Readonly<Record<string, string>> = WAITING) {
  const places = Object.keys(waiting);

  /** Every source file is reached from what the package exports. */
  const noFileIsDead: Rule = (tree) =>
    deadFiles(tree)
      .filter((path) => !places.some((place) => path.startsWith(place)))
      .map((path) => {
        const message = 'nothing that the package exports reaches this file; use it, or remove it';
        return { path, line: 1, message: `${message}, or list it in test/tidy/dead_files.ts` };
      });

  /** A place that waits has dead files in it, or is not there yet. */
  const waitingHasAnEnd: Rule = (tree) => {
    const dead = deadFiles(tree);
    return places
      .filter((place) => tree.paths.some((path) => path.startsWith(place)))
      .filter((place) => !dead.some((path) => path.startsWith(place)))
      .map((path) => ({
        path,
        line: 1,
        message: 'all of it is used now; remove it from WAITING in test/tidy/dead_files.ts',
      }));
  };

  return { noFileIsDead, waitingHasAnEnd };
}

function deadFiles(tree: Tree): string[] {
  const byPath = new Map(tree.sources.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const reach = (path: string): void => {
    const file = byPath.get(path);
    if (file === undefined || reached.has(path)) return;
    reached.add(path);
    for (const { specifier } of file.imports) {
      if (specifier?.startsWith('.') === true) reach(targetOf(path, specifier));
    }
  };
  ROOTS.forEach(reach);
  for (const [place, user] of Object.entries(USED_OUTSIDE)) {
    for (const target of targetsOf(tree, user)) {
      if (target === place || (place.endsWith('/') && target.startsWith(place))) reach(target);
    }
  }
  return tree.sources.map(({ path }) => path).filter((path) => path.startsWith('src/') && !reached.has(path));
}

/** What the files of a folder import, as paths. */
function targetsOf(tree: Tree, folder: string): string[] {
  return tree.sources
    .filter(({ path }) => path.startsWith(folder))
    .flatMap(({ path, imports }) =>
      imports.flatMap(({ specifier }) =>
        specifier?.startsWith('.') === true ? [targetOf(path, specifier)] : [],
      ),
    );
}
