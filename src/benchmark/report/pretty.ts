import type { BenchResult, LocatedCost } from '../result.ts';
import { ROW_COLUMNS, comparisonText, durationText, percentText, rowTexts, shareTexts } from './numbers.ts';
import { counted } from '../../diagnostics/message_text.ts';

/** Parts below this share of a decision are summed up in one line. */
const SHOWN_SHARE = 0.005;

/** Formats the result for a terminal. */
export function prettyReport(result: BenchResult): string {
  const { file, corpus, machine, rows, parts, suggestions, compared, against } = result;
  const lines = [
    `${file}  ${counted(corpus.count, 'request')} ${corpus.from}`,
    `node ${machine.node}, ${machine.cpu}, ${counted(machine.cores, 'core')}`,
    '',
    ...table([ROW_COLUMNS, ...rows.map(rowTexts)]),
  ];
  const unsteady = rows.filter(({ steady }) => !steady).map(({ name }) => name);
  if (unsteady.length > 0) lines.push(`not steady after the warm-up: ${unsteady.join(', ')}`);
  if (parts.length > 0)
    lines.push('', 'Time per part of a decision', ...partLines(parts, result.partsLeftOut));
  if (compared.length > 0) {
    lines.push('', `Against ${against!}`);
    for (const { name, comparison } of compared) lines.push(`  ${name}: ${comparisonText(comparison)}`);
  }
  if (suggestions.length > 0) {
    lines.push('', 'Suggestions: each keeps every decision on these requests, and was measured');
    for (const { message, comparison } of suggestions)
      lines.push(`  ${message}: ${comparisonText(comparison)}`);
  }
  return `${lines.join('\n')}\n`;
}

function partLines(parts: readonly LocatedCost[], leftOut: number): string[] {
  const shown = parts.filter(({ share }) => share >= SHOWN_SHARE);
  const rest = parts.filter((part) => !shown.includes(part));
  const { of, own, small } = shareTexts(parts, rest);
  const lines = table([
    ['', 'share', 'each', 'expected', 'reached', ''],
    ...shown.map((part) => [
      part.kind === 'rule' ? `  rule ${part.name}` : part.name,
      of(part),
      durationText(part.ns),
      durationText(part.estimatedNs),
      `${part.reached}/${part.of}`,
      part.place ?? '',
    ]),
  ]);
  lines.push(`  ${own} is routing, replying and what modules share`);
  if (rest.length > 0)
    lines.push(`  ${small} is ${rest.length} more, below ${percentText(SHOWN_SHARE)} each`);
  if (leftOut > 0) lines.push(`  ${leftOut} were not measured individually`);
  return lines;
}

/** Formats rows as columns: the first left-aligned, numbers right-aligned, the last as it is. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    `  ${row
      .map((cell, column) => {
        const space = ' '.repeat(widths[column]! - cell.length);
        return column === 0 || cell.includes(':') ? cell + space : space + cell;
      })
      .join('  ')}`.trimEnd(),
  );
}
