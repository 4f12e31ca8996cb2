import type { Diagnostic, Source, Span } from '../../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../../diagnostics/lines.ts';
import { counted, quoted } from '../../diagnostics/message_text.ts';
import { type CsvField, type CsvRows, readCsv } from '../../config_file/csv.ts';
import { FILE_LIMIT_BYTES } from '../../config_file/read.ts';
import type { ScenarioCode } from './codes.ts';
import type { Row } from './expand.ts';

/** A row of a table in a file. */
export interface PlacedRow {
  readonly row: Row;
  /** `rows.csv:7`. */
  readonly place: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The rows of a CSV file; its first line has their names. Numbers, `true`, `false` and `null` are values unless they are quoted.
 * Problems are appended to `found`, at their place in the file.
 */
export function csvTable(source: Source, found: Diagnostic[]): readonly PlacedRow[] {
  const report = (message: string, span: Span): void => {
    const code: ScenarioCode = 'scenario.bad_table';
    found.push({ code, severity: 'error', message, pointer: '', source, span });
  };
  const start = { start: 0, end: 0 };
  if (Buffer.byteLength(source.text) > FILE_LIMIT_BYTES) {
    report(`the file has more than ${FILE_LIMIT_BYTES} bytes`, start);
    return [];
  }
  const rows = readCsv(source.text);
  if ('message' in rows) {
    report(rows.message, rows.span);
    return [];
  }
  const [header, ...rest] = rows;
  if (header === undefined || rest.length === 0) {
    report('the table has no rows: the first line has the names of its columns', start);
    return [];
  }
  const names = namesOf(header, report);
  return names === null ? [] : placedRows(names, rest, source, report);
}

type ReportAt = (message: string, span: Span) => void;

function namesOf(header: readonly CsvField[], report: ReportAt): readonly string[] | null {
  const names: string[] = [];
  for (const { text, span } of header) {
    const name = text.trim();
    if (!NAME.test(name)) report(`${quoted(name)} is not a name of letters, digits and underscores`, span);
    else if (names.includes(name)) report(`two columns have the name ${quoted(name)}`, span);
    else names.push(name);
  }
  return names.length === header.length ? names : null;
}

function placedRows(
  names: readonly string[],
  rows: CsvRows,
  source: Source,
  report: ReportAt,
): readonly PlacedRow[] {
  const lines = linesOf(source.text);
  return rows.flatMap((fields): PlacedRow[] => {
    const { span } = fields[0]!;
    if (fields.length !== names.length) {
      const message = `the row has ${counted(fields.length, 'field')}; the first line has ${counted(names.length, 'name')}`;
      report(message, { start: span.start, end: fields.at(-1)!.span.end });
      return [];
    }
    const row = Object.fromEntries(names.map((name, at) => [name, valueOf(fields[at]!)]));
    return [{ row, place: `${source.name}:${positionAt(lines, span.start).line}` }];
  });
}

const VALUE = /^(?:true|false|null|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?)$/;

function valueOf({ text, isQuoted }: CsvField): unknown {
  return !isQuoted && VALUE.test(text) ? (JSON.parse(text) as unknown) : text;
}
