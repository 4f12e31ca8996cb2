import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { CheckedScenario } from '../../simulator/document/check.ts';
import { type Row, rowsOf } from '../../simulator/document/expand.ts';
import type { CaseResult } from '../../simulator/result.ts';
import { writtenSnapshot } from '../../simulator/snapshot.ts';

/** A span of a text and its replacement. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The edits of a file, and how they are displayed. */
export interface Filling {
  readonly edits: readonly Edit[];
  /** For the user: the name of the case, then the removed and the inserted text. */
  readonly shown: readonly string[];
  /** Why values could not be filled in. */
  readonly refused: readonly string[];
}

/** The text of a scenario file, and how it writes values. */
interface Page {
  readonly text: string;
  readonly form: 'yaml' | 'json';
  readonly checked: CheckedScenario;
}

/** The result of one row of a table, or of a case without a table. */
interface Happened {
  readonly result: CaseResult;
  readonly value: unknown;
}

const NOTHING: Filling = { edits: [], shown: [], refused: [] };

/** Plans the replacement of each `snapshot` in a file. */
export function planFilling(page: Page, results: readonly CaseResult[]): Filling {
  const places = new Map<string, Happened[]>();
  for (const result of results) {
    for (const { pointer, value } of result.snapshots) {
      const known = places.get(pointer);
      if (known === undefined) places.set(pointer, [{ result, value }]);
      else known.push({ result, value });
    }
  }
  const fillings = Array.from(places, ([pointer, happened]) => fillingOf(page, pointer, happened));
  return {
    edits: fillings.flatMap(({ edits }) => edits),
    shown: fillings.flatMap(({ shown }) => shown),
    refused: fillings.flatMap(({ refused }) => refused),
  };
}

/** A text after edits that do not overlap; of insertions at one offset the later one comes first. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  let edited = '';
  let done = 0;
  for (const { start, end, text: written } of edits
    .toReversed()
    .toSorted((one, other) => one.start - other.start)) {
    edited += text.slice(done, start) + written;
    done = end;
  }
  return edited + text.slice(done);
}

function fillingOf(page: Page, pointer: string, happened: readonly Happened[]): Filling {
  const { result, value } = happened[0]!;
  const span = page.checked.spanOf(pointer);
  if (span === undefined) return refusal(result, 'its place in the file is unknown');
  const { tableRow } = result;
  if (tableRow === null) return plain(page, span, result.name, value);
  if (happened.length < tableRow.of) {
    return refusal(result, 'only some rows of its table were run; run them all to fill it in');
  }
  const texts = happened.map((each) => writtenSnapshot(each.value, page.form));
  const isSame = texts.every((text) => text === texts[0]);
  // Text in braces would be read as a reference to a value of the row.
  if (isSame && !/\{[A-Za-z_]\w*\}/.test(JSON.stringify(value)))
    return plain(page, span, `every row of the table of ${result.name}`, value);
  return inRows(page, pointer, span, happened);
}

function refusal({ name }: CaseResult, why: string): Filling {
  return { ...NOTHING, refused: [`${name}: ${why}`] };
}

function plain({ text, form }: Page, span: Omit<Edit, 'text'>, name: string, value: unknown): Filling {
  const written = writtenSnapshot(value, form);
  return {
    ...NOTHING,
    edits: [{ ...span, text: written }],
    shown: [name, `  - expect: ${text.slice(span.start, span.end)}`, `  + expect: ${written}`],
  };
}

/** Rows with different expectations get a column: `expect: "{expected}"`, and `expected` in each row. */
function inRows(
  page: Page,
  pointer: string,
  span: Omit<Edit, 'text'>,
  happened: readonly Happened[],
): Filling {
  const { form, text, checked } = page;
  const { result } = happened[0]!;
  const table = pointerTo(/^\/cases\/\d+/.exec(pointer)![0], 'each');
  const at = checked.spanOf(table);
  const each = valueAt(checked.document.value, table);
  if (at === undefined || /^[&*!]/.test(text.slice(at.start)))
    return refusal(result, 'its table is elsewhere in the file; write the expected value yourself');
  if (typeof each === 'string')
    return refusal(result, `its table is in ${each}; write the expected values there yourself`);
  const rows = rowsOf(each);
  const own = text.slice(span.start, span.end).replaceAll(/^["']|["']$/g, '');
  if (own !== 'snapshot')
    return refusal(result, `${own} is a value of its table; write \`snapshot\` in the case`);
  const name = freeName(rows);
  const spans = rows.map((_row, index) => checked.spanOf(pointerTo(table, index)));
  const edits = Array.isArray(each)
    ? happened.map(({ value }, index) => rowEdit(page, spans[index]!, name, value))
    : [{ ...trimmed(text, at), text: tableText(page, at.start, rows, happened, name) }];
  return {
    ...NOTHING,
    edits: [{ ...span, text: `"{${name}}"` }, ...edits],
    shown: [
      `the table of ${result.name}`,
      `  - expect: ${text.slice(span.start, span.end)}`,
      `  + expect: "{${name}}"`,
      ...happened.map(({ value }, index) => `  + row ${index + 1}: ${name}: ${writtenSnapshot(value, form)}`),
    ],
  };
}

/** The span of a block value extends to the next key, so trailing space is cut off. */
function trimmed(text: string, { start, end }: Omit<Edit, 'text'>): Omit<Edit, 'text'> {
  return { start, end: start + text.slice(start, end).trimEnd().length };
}

function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

function freeName(rows: readonly Row[]): string {
  const isTaken = (name: string) => rows.some((row) => Object.hasOwn(row, name));
  let count = 1;
  while (isTaken(count === 1 ? 'expected' : `expected_${count}`)) count++;
  return count === 1 ? 'expected' : `expected_${count}`;
}

/** Adds the expected value to a row: at the end of a flow map, or at the start of a block map. */
function rowEdit({ text, form }: Page, span: Omit<Edit, 'text'>, name: string, value: unknown): Edit {
  const key = form === 'json' ? JSON.stringify(name) : name;
  const entry = `${key}: ${writtenSnapshot(value, form)}`;
  if (text[span.start] !== '{') {
    const column = span.start - (text.lastIndexOf('\n', span.start - 1) + 1);
    return { start: span.start, end: span.start, text: `${entry}\n${' '.repeat(column)}` };
  }
  const inside = text.slice(span.start + 1, span.end - 1).trimEnd();
  const end = span.start + 1 + inside.length;
  const comma = inside === '' || inside.endsWith(',') ? '' : ',';
  return { start: end, end, text: `${comma} ${entry}` };
}

/** All combinations of a map of lists, written as rows. */
function tableText(
  { text, form }: Page,
  start: number,
  rows: readonly Row[],
  happened: readonly Happened[],
  name: string,
): string {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const indent = lineStart === 0 ? '' : `\n${' '.repeat(start - lineStart)}`;
  const lines = rows.map((row, index) => writtenSnapshot({ ...row, [name]: happened[index]!.value }, form));
  return `[${indent}  ${lines.join(`,${indent}  `)}${indent}]`;
}
