import { linesOf, positionAt } from '../diagnostics/lines.ts';
import { PHASES } from '../filters/phase.ts';
import { editedText, visit } from '../editing/edited_text.ts';
import type { YamlNode } from '../editing/yaml_tree.ts';

/** Lines, from 0, that are replaced. */
export interface Hunk {
  readonly from: number;
  /** Not included. */
  readonly to: number;
  readonly text: string;
}

/** Replaces the rules on some lines, whole, by those of another text of the same policies; empty if these differ. */
export function rulesOfLines(
  name: string,
  before: string,
  after: string,
  { first, last }: { readonly first: number; readonly last: number },
): readonly Hunk[] {
  const [own, others] = [rulesIn(name, before), rulesIn(name, after)];
  if (own.length !== others.length) return [];
  const lines = after.split(/(?<=\n)/);
  return own.flatMap(({ from, to, column }, index) => {
    if (from > last || to <= first) return [];
    const other = others[index]!;
    const text = lines
      .slice(other.from, other.to)
      .map((line) => moved(line, column - other.column))
      .join('');
    return [{ from, to, text }];
  });
}

interface RuleLines {
  readonly from: number;
  readonly to: number;
  /** Column of its marker. */
  readonly column: number;
}

/** The lines of the rules that begin with a marker. */
function rulesIn(name: string, text: string): readonly RuleLines[] {
  const found: RuleLines[] = [];
  const lines = linesOf(text);
  const lineOf = (offset: number): number => positionAt(lines, offset).line - 1;
  visit(editedText(text, name), ({ path }, node) => {
    if (node?.kind !== 'list' || !(PHASES as readonly string[]).includes(path.at(-1) ?? '')) return;
    for (const [index, dash] of node.dashes.entries()) {
      const from = lineOf(dash);
      const to = lineOf(lastOf(text, dash, node.items[index] ?? null)) + 1;
      found.push({ from, to, column: dash - (text.lastIndexOf('\n', dash - 1) + 1) });
    }
  });
  return found;
}

function lastOf(text: string, dash: number, item: YamlNode | null): number {
  const written = text.slice(dash, item?.end ?? dash + 1);
  return dash + written.trimEnd().length;
}

function moved(line: string, columns: number): string {
  if (line.trim() === '') return line;
  return columns >= 0 ? ' '.repeat(columns) + line : line.slice(-columns);
}
