import type { Span } from '../diagnostics/diagnostic.ts';

/** One field of a row. */
export interface CsvField {
  /** Without quotes. */
  readonly text: string;
  readonly isQuoted: boolean;
  readonly span: Span;
}

/** A problem of the text, with its place. */
export interface CsvProblem {
  readonly message: string;
  readonly span: Span;
}

/** The rows of a table; empty lines are left out. */
export type CsvRows = readonly (readonly CsvField[])[];

/**
 * Reads comma-separated values (RFC 4180): fields in double quotes may have commas, line breaks and doubled quotes. Lines
 * end with LF or CRLF; a byte order mark is skipped. The cost is linear in the length of the text.
 */
export function readCsv(text: string): CsvRows | CsvProblem {
  const rows: CsvField[][] = [];
  let row: CsvField[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length || row.length > 0) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
    if ('message' in field) return field;
    row.push(field);
    at = field.span.end;
    if (text[at] === ',') {
      at++;
      continue;
    }
    const end = lineEnd(text, at);
    if (end === null) {
      const span = { start: at, end: at + 1 };
      return { message: 'a comma or the end of the line has to follow the closing quote', span };
    }
    at = end;
    const isEmpty = row.length === 1 && row[0]!.text === '' && !row[0]!.isQuoted;
    if (!isEmpty) rows.push(row);
    row = [];
  }
  return rows;
}

/** The offset after a line break or at the end of the text; null if something else follows. */
function lineEnd(text: string, at: number): number | null {
  if (at >= text.length || text[at] === '\n') return at + 1;
  return text.startsWith('\r\n', at) ? at + 2 : null;
}

const PLAIN = /[^,\r\n]*(?:\r(?!\n)[^,\r\n]*)*/y;

function plainField(text: string, start: number): CsvField | CsvProblem {
  PLAIN.lastIndex = start;
  const [own] = PLAIN.exec(text)!;
  const quote = own.indexOf('"');
  if (quote >= 0) {
    const span = { start: start + quote, end: start + quote + 1 };
    return { message: 'a field with a quote has to be in quotes, and the quote doubled', span };
  }
  return { text: own, isQuoted: false, span: { start, end: start + own.length } };
}

function quotedField(text: string, start: number): CsvField | CsvProblem {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { message: 'the quote is not closed', span: { start, end: start + 1 } };
    at = quote + 1;
    if (text[at] !== '"') break;
    at++;
  }
  const own = text.slice(start + 1, at - 1).replaceAll('""', '"');
  return { text: own, isQuoted: true, span: { start, end: at } };
}
