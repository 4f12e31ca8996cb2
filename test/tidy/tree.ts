import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { linesOf, positionAt } from '../../src/diagnostics/lines.ts';
import type { Lines } from '../../src/diagnostics/lines.ts';

/** A node of the syntax tree, as ESTree has it with TypeScript. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** One `import`, `export … from`, `import('literal')` or `import('…')` type. */
export interface Import {
  /** As written; null for `import(expression)`. */
  readonly specifier: string | null;
  readonly offset: number;
}

/** A source file, parsed. Paths have slashes and begin at the root: `src/http/fields.ts`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: Lines;
  readonly program: Node;
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[];
  readonly imports: readonly Import[];
}

/** A file that is not parsed. */
interface Text {
  readonly path: string;
  readonly text: string;
}

/** What the rules look at. */
export interface Tree {
  /** Every path below the looked-at folders, parsed or not. */
  readonly paths: readonly string[];
  readonly sources: readonly SourceFile[];
  /** Sources that cannot be parsed; no other rule sees them. */
  readonly broken: readonly Breach[];
  readonly markdown: readonly Text[];
  /** Files that are neither: YAML, schemas, scripts. */
  readonly others: readonly Text[];
}

/** One breach of a rule; `message` ends in what to do instead. */
export interface Breach {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export type Rule = (tree: Tree) => Breach[];

const FOLDERS = ['src', 'test', 'bench', 'docs', 'fixtures', 'packaging'];
/** Folders of which only the files are read: packages are installed below. */
const FLAT_FOLDERS = ['.ci', 'peers', 'site'];
const TOP_LEVEL_MARKDOWN = /^[^/]+\.md$/;

/** Reads a project. */
export function readTree(root: string): Tree {
  const below = [...FOLDERS, ...FLAT_FOLDERS]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: !FLAT_FOLDERS.includes(folder), withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
    );
  const top = readdirSync(root).filter((name) => TOP_LEVEL_MARKDOWN.test(name));
  const paths = [...below, ...top].sort();
  const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
  const textsOf = (is: (path: string) => boolean): Text[] =>
    paths.filter((path) => is(path)).map((path) => ({ path, text: textOf(path) }));
  const broken: Breach[] = [];
  return {
    paths,
    sources: paths
      .filter((path) => /\.tsx?$/.test(path))
      .flatMap((path) => parse(path, textOf(path), broken) ?? []),
    broken,
    markdown: textsOf((path) => path.endsWith('.md')),
    others: textsOf((path) => !/\.(?:tsx?|md)$/.test(path)),
  };
}

function parse(path: string, text: string, broken: Breach[]): SourceFile | null {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) {
    broken.push({ path, line: 1, message: `does not parse: ${errors[0]!.message}; repair it first` });
    return null;
  }
  const root = program as unknown as Node;
  return { path, text, lines: linesOf(text), program: root, comments, imports: importsOf(root) };
}

function importsOf(program: Node): Import[] {
  const imports: Import[] = [];
  walk(program, (node) => {
    const isImport = /^(?:Import|ExportNamed|ExportAll)Declaration$|^ImportExpression$|^TSImportType$/.test(
      node.type,
    );
    if (!isImport || !isNode(node['source'])) return;
    const value = node['source']['value'];
    imports.push({ specifier: typeof value === 'string' ? value : null, offset: node.start });
  });
  return imports;
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

/** The nodes right below one, in the order of the tree. */
export function childrenOf(node: Node): Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

/** Visits a node and all below it. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of childrenOf(node)) walk(child, visit);
}

/** The line of an offset, counted from 1. */
export function lineOf(file: SourceFile, offset: number): number {
  return positionAt(file.lines, offset).line;
}
