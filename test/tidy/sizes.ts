import { FUNCTIONS, nodesOf } from './scopes.ts';
import { childrenOf, isNode, lineOf } from './tree.ts';
import type { Breach, Node, Rule, SourceFile } from './tree.ts';

const FILE_LINES = 300;
/** A test describes: it may be longer before it is hard to read. */
const TEST_LINES = 400;
const MODULE_LINES = 150;
const FUNCTION_LINES = 70;
const NESTING = 4;
const TABLE = /^\s*table\b:?\s*(.*)$/;

/** Files are short enough to be read at one go. */
export const filesAreShort: Rule = (tree) =>
  tree.sources.flatMap((file) => {
    const isModule = /^src\/(?:filters|auth|webhooks|policy)\/(?:\w+\/)?module\.ts$/.test(file.path);
    const limit = isModule ? MODULE_LINES : file.path.startsWith('test/') ? TEST_LINES : FILE_LINES;
    const lines = lineOf(file, file.text.trimEnd().length) - tableLines(file, 0, file.text.length);
    if (lines <= limit) return [];
    const what = isModule
      ? 'a face is thin: move the procedure into the algorithm of the filter'
      : 'split it by subject';
    return [{ path: file.path, line: 1, message: `${lines} lines, ${limit} are allowed; ${what}` }];
  });

/** Functions are short enough to be seen at one glance. Tests describe at length and are exempt. */
export const functionsAreShort: Rule = (tree) =>
  tree.sources.flatMap((file) => {
    if (file.path.startsWith('test/')) return [];
    return nodesOf(file.program, FUNCTIONS).flatMap((node) => {
      const first = lineOf(file, node.start);
      const lines = lineOf(file, node.end) - first + 1 - tableLines(file, node.start, node.end);
      if (lines <= FUNCTION_LINES) return [];
      const message = `a function of ${lines} lines, ${FUNCTION_LINES} are allowed; name its parts as functions`;
      return [{ path: file.path, line: first, message }];
    });
  });

const NESTED = /^(?:If|For(?:In|Of)?|(?:Do)?While|Switch|Try)Statement$/;

/** What a function holds is seen without counting brackets: its branches, loops and inner functions, one in another. */
export const nestingIsLow: Rule = (tree) =>
  tree.sources.flatMap((file) => {
    if (file.path.startsWith('test/')) return [];
    const breaches: Breach[] = [];
    const visit = (node: Node, parent: Node | null, outside: number): void => {
      const isElseIf = node.type === 'IfStatement' && parent?.['alternate'] === node;
      const hasBlock = isNode(node['body']) && node['body'].type === 'BlockStatement';
      // The outermost function is the place from which levels are counted.
      const isLevel = (NESTED.test(node.type) && !isElseIf) || (FUNCTIONS.test(node.type) && hasBlock);
      const level = isLevel ? outside + 1 : outside;
      if (isLevel && level === NESTING + 1) {
        const message = `level ${level} of nesting, ${NESTING} are allowed; return early, or name the inner part as a function`;
        breaches.push({ path: file.path, line: lineOf(file, node.start), message });
      }
      for (const child of childrenOf(node)) visit(child, node, level);
    };
    visit(file.program, null, -1);
    return breaches;
  });

/** A `// table: reason`, or `// table` below a docstring, precedes a constant that is only data. */
export const tablesAreData: Rule = (tree) =>
  tree.sources.flatMap((file) =>
    tablesOf(file).flatMap(({ comment, reason, statement }): Breach[] => {
      const at = { path: file.path, line: lineOf(file, comment) };
      if (reason === '') return [{ ...at, message: 'a table needs its reason: // table: what it lists' }];
      if (statement === undefined)
        return [{ ...at, message: 'nothing follows that could be a table; remove the comment' }];
      if (nodesOf(statement, /^BlockStatement$/).length === 0) return [];
      return [
        {
          ...at,
          message: 'a table is data, not code: move functions with a body out of it, or drop the comment',
        },
      ];
    }),
  );

interface Table {
  readonly comment: number;
  readonly reason: string;
  /** The statement right after the comment. */
  readonly statement: Node | undefined;
}

const known = new WeakMap<SourceFile, readonly Table[]>();

function tablesOf(file: SourceFile): readonly Table[] {
  let tables = known.get(file);
  if (tables === undefined) known.set(file, (tables = findTables(file)));
  return tables;
}

function findTables(file: SourceFile): Table[] {
  const statements = nodesOf(file.program, /^(?:VariableDeclaration|ExportNamedDeclaration)$/);
  return file.comments.flatMap(({ value, start, end }): Table[] => {
    const found = TABLE.exec(value);
    if (found === null) return [];
    const statement = statements.find(
      (node) => node.start >= end && file.text.slice(end, node.start).trim() === '',
    );
    const hasDocstring = file.comments.some(
      (other) =>
        other.value.startsWith('*') && other.end < start && file.text.slice(other.end, start).trim() === '',
    );
    return [{ comment: start, reason: found[1]!.trim() || (hasDocstring ? 'docstring' : ''), statement }];
  });
}

/** Lines between two offsets that belong to tables. */
function tableLines(file: SourceFile, from: number, to: number): number {
  return tablesOf(file)
    .flatMap(({ statement }) => statement ?? [])
    .filter((node) => node.start >= from && node.end <= to)
    .reduce((sum, node) => sum + lineOf(file, node.end) - lineOf(file, node.start) + 1, 0);
}
