import type { Diagnostic } from './diagnostic.ts';
import { diagnosticsToJson } from './json.ts';
import { markdownCell } from './markdown.ts';

/** Where an annotation is shown; lines and columns count from 1. */
export interface AnnotationPlace {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** A workflow command of GitHub Actions that annotates a line of a file; it ends in a line break. */
export function annotation(
  kind: 'error' | 'warning' | 'notice',
  place: AnnotationPlace | null,
  title: string,
  message: string,
): string {
  const { file, line, column } = place ?? {};
  const all = [
    file === undefined ? '' : `file=${property(file)}`,
    line === undefined ? '' : `line=${line}`,
    column === undefined ? '' : `col=${column}`,
    `title=${property(title)}`,
  ];
  return `::${kind} ${all.filter((each) => each !== '').join()}::${data(message)}\n`;
}

/** Findings as annotations of GitHub Actions. */
export function diagnosticsAnnotations(list: readonly Diagnostic[]): string {
  return diagnosticsToJson(list)
    .map(({ file, range, severity, code, message, hint, notes }) => {
      const { line, column } = range?.start ?? {};
      const place = file === null ? null : { file, ...(line && { line }), ...(column && { column }) };
      return annotation(
        severity,
        place,
        code,
        [message, ...(hint === null ? [] : [hint]), ...notes].join('\n'),
      );
    })
    .join('');
}

/** Findings as a table in Markdown, for the summary of a step of GitHub Actions. */
export function diagnosticsSummary(list: readonly Diagnostic[], files: readonly string[]): string {
  const title = '### edgeproof check\n\n';
  if (list.length === 0)
    return `${title}${files.map((file) => markdownCell(file)).join(', ')}: no problems found\n`;
  const rows = diagnosticsToJson(list).map(({ file, range, severity, code, message }) => {
    const place = `${file ?? ''}${range === null ? '' : `:${range.start.line}:${range.start.column}`}`;
    return `| ${severity} | ${markdownCell(place)} | ${markdownCell(code)} | ${markdownCell(message)} |\n`;
  });
  return `${title}| | place | code | finding |\n|---|---|---|---|\n${rows.join('')}`;
}

/** As GitHub's toolkit escapes the data of a command. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** The value of a property of a command may also contain no colon and no comma. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
