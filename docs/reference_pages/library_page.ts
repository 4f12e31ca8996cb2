import { readFileSync } from 'node:fs';
import { type Declaration, declarationOf, exportsOf } from './declarations.ts';
import { code, fenced, page, part } from './markdown.ts';

/** The entry points of the package, with the files of their source. */
export const ENTRY_POINTS: Readonly<Record<string, readonly [file: string, does: string]>> = {
  edgeproof: ['src/index.ts', 'Edges, scenarios, checks and analysis in a program or in tests.'],
  'edgeproof/vitest': ['src/integrations/testing/vitest.ts', 'Scenarios and matchers for Vitest.'],
  'edgeproof/node-test': ['src/integrations/testing/node_test.ts', 'Scenarios for `node:test`.'],
  'edgeproof/cel': ['src/cel/index.ts', 'The expression engine by itself.'],
};

/** The reference of the library: every exported name with its documentation and its declaration in the source. */
export function libraryPage(): string {
  return page(
    '# Library',
    '<!-- Generated from the source by `npm run generate`. Do not edit. -->',
    '[Embedding](../embedding.md) has examples. `import` and `require` both work. Names that are not on this page are internal.',
    ...Object.entries(ENTRY_POINTS).map(([name, [file, does]]) =>
      part(`## ${code(name)}`, does, ...entriesOf(file)),
    ),
  );
}

function entriesOf(file: string): string[] {
  const exported = exportsOf(file);
  return exported
    .map(([name, place]) => [name, declarationOf(place)] as const)
    .toSorted(byKind)
    .flatMap(([name, { doc, text }]) => [
      `### ${code(name)}`,
      doc,
      fenced('ts', publicNames(text, exported)),
    ]);
}

/** What the source calls by another name than it exports. */
function publicNames(text: string, exported: ReturnType<typeof exportsOf>): string {
  return exported.reduce(
    (shown, [name, place]) =>
      place.name === name ? shown : shown.replaceAll(new RegExp(`\\b${place.name}\\b`, 'g'), name),
    text,
  );
}

/** Functions and values before types, as in the source otherwise. */
function byKind([, one]: readonly [string, Declaration], [, other]: readonly [string, Declaration]): number {
  return Number(one.isType) - Number(other.isType);
}

/** The subpaths that the package exports, without its `package.json`. */
export function exportedSubpaths(): readonly string[] {
  const url = new URL('../../package.json', import.meta.url);
  const { name, exports } = JSON.parse(readFileSync(url, 'utf8')) as { name: string; exports: object };
  return Object.keys(exports)
    .filter((subpath) => !subpath.endsWith('.json'))
    .map((subpath) => name + subpath.slice(1));
}
