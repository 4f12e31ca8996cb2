import type { BenchResult } from '../result.ts';
import { comparisonText, durationText, rowTexts, shareTexts } from './numbers.ts';
import { counted } from '../../diagnostics/message_text.ts';

/** The result as Markdown, for a comment on a pull request. */
export function markdownReport(result: BenchResult): string {
  const { file, corpus, machine, rows, parts, suggestions, compared, against } = result;
  const lines = [
    `### ${file}`,
    '',
    `${counted(corpus.count, 'request')} ${corpus.from}; node ${machine.node}, ${machine.cpu}`,
    '',
    '| | per op | ops | p50 | p99 | p99.9 | bytes | gc |',
    '|---|--:|--:|--:|--:|--:|--:|--:|',
    ...rows.map((row) => {
      const [name, perOp, spread, ...others] = rowTexts(row);
      return `| ${[name, `${perOp} ${spread}`, ...others].join(' | ')} |`;
    }),
  ];
  if (parts.length > 0) {
    lines.push('', '| part | share | each | expected | reached | place |', '|---|--:|--:|--:|--:|---|');
    const texts = shareTexts(parts);
    for (const part of parts) {
      const { kind, name, ns, estimatedNs, reached, of, place } = part;
      lines.push(
        `| ${kind} ${escaped(name)} | ${texts.of(part)} | ${durationText(ns)} | ${durationText(estimatedNs)} | ${reached}/${of} | ${place ?? ''} |`,
      );
    }
    lines.push(`| routing, replying and what modules share | ${texts.own} | | | | |`);
  }
  if (compared.length > 0) {
    lines.push('', `Against ${against!}:`, '');
    for (const { name, comparison } of compared) lines.push(`- ${name}: ${comparisonText(comparison)}`);
  }
  if (suggestions.length > 0) {
    lines.push('', 'Suggestions, verified on these requests:', '');
    for (const { message, comparison } of suggestions)
      lines.push(`- ${escaped(message)}: ${comparisonText(comparison)}`);
  }
  return `${lines.join('\n')}\n`;
}

function escaped(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
