import type { Span } from '../../diagnostics/diagnostic.ts';

/** The values of one row by name. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * The rows of a table: a list of rows, or every combination of a map of lists, with the last name varying
 * fastest.
 */
export function rowsOf(each: unknown): readonly Row[] {
  if (Array.isArray(each)) return each.filter((row): row is Row => typeof row === 'object' && row !== null);
  if (typeof each !== 'object' || each === null) return [];
  let rows: Row[] = [{}];
  for (const [name, values] of Object.entries(each)) {
    if (!Array.isArray(values)) return [];
    rows = rows.flatMap((row) => values.map((value: unknown) => Object.assign({}, row, { [name]: value })));
  }
  return rows;
}

const PLACE = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const WHOLE = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/**
 * A value with `{name}` replaced. A string that is only a placeholder becomes the value itself, of any type;
 * inside other text the value is inserted as text. Other braces are kept.
 */
export function filled(value: unknown, row: Row): unknown {
  if (typeof value === 'string') return filledText(value, row);
  if (Array.isArray(value)) return value.map((item: unknown) => filled(item, row));
  if (Object.prototype.toString.call(value) !== '[object Object]') return value;
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value as Row)) out[filledWithin(key, row)] = filled(item, row);
  return out;
}

function filledText(text: string, row: Row): unknown {
  const whole = WHOLE.exec(text);
  if (whole !== null && Object.hasOwn(row, whole[1]!)) return row[whole[1]!];
  return filledWithin(text, row);
}

function filledWithin(text: string, row: Row): string {
  if (!text.includes('{')) return text;
  return text.replaceAll(PLACE, (place, name: string) =>
    Object.hasOwn(row, name) ? written(row[name]) : place,
  );
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The placeholders of a text. */
export function placeholdersOf(text: string): readonly { readonly name: string; readonly span: Span }[] {
  return Array.from(text.matchAll(PLACE), ({ 0: place, 1: name, index }) => ({
    name: name!,
    span: { start: index, end: index + place.length },
  }));
}

/** The name of a row's case: with placeholders filled in, or followed by the row if it has none. */
export function nameOfRow(name: string, row: Row): string {
  const full = filledWithin(name, row);
  if (full !== name) return full;
  // Expected values are not part of the name.
  const facts = Object.entries(row)
    .filter(([key]) => !/^expected(?:_\d+)?$/.test(key))
    .map(([key, value]) => `${key}=${written(value)}`);
  return `${name} [${facts.join(', ')}]`;
}
