import { type Diagnostic, pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Report } from '../../diagnostics/report.ts';
import type { Depart } from '../../config_file/shape.ts';
import { shaped } from '../../config_file/validate.ts';
import type { FilesBeside } from './beside.ts';
import type { ScenarioCode } from './codes.ts';
import { type PlacedRow, csvTable } from './csv_table.ts';
import { type Row, filled, rowsOf } from './expand.ts';
import { EACH_SHAPE } from './scenario_shape.ts';

/** Reads the table of a case at its pointer. */
export type ReadTable = (each: unknown, pointer: string) => readonly Partial<PlacedRow>[];

interface TableSetting {
  readonly files: FilesBeside;
  readonly found: Diagnostic[];
  readonly depart: Depart;
  readonly report: Report<ScenarioCode>;
  /** Receives the names of files. */
  readonly read: Set<string>;
}

/** Reads the tables of a scenario file, from the file or from CSV files that it names; each is read once. */
export function tableReader(name: string, setting: TableSetting): ReadTable {
  const { files, found, depart, report, read } = setting;
  const known = new Map<string, readonly PlacedRow[]>();
  return (each, pointer) => {
    const before = found.length;
    if (shaped(EACH_SHAPE, each, pointer, depart) === undefined || found.length > before) return [];
    if (typeof each !== 'string') {
      const rows = rowsOf(each);
      if (rows.length === 0) report('scenario.empty_table', pointer, 'the table has no rows');
      return rows.map((row) => ({ row }));
    }
    const file = files.nameOf(name, each);
    const table = known.get(file);
    if (table !== undefined) return table;
    read.add(file);
    const source = files.read(file);
    if ('problem' in source) {
      report('scenario.bad_table', pointer, source.problem, { hint: source.hint });
      return [];
    }
    const rows = csvTable(source, found);
    known.set(file, rows);
    return rows;
  };
}

/** A case, or one of its rows, filled in. */
export interface Expanded {
  readonly row: Row | null;
  readonly value: unknown;
  /** The place of the row, if it is in a file of its own. */
  readonly place?: string | undefined;
}

/** The rows of a case with a table; the case itself without one. */
export function expanded(
  given: unknown,
  pointer: string,
  variables: Row | undefined,
  tables: ReadTable,
): readonly Expanded[] {
  if (typeof given !== 'object' || given === null || !('each' in given))
    return [{ row: null, value: variables === undefined ? given : filled(given, variables) }];
  const { each, ...rest } = given;
  return tables(each, pointerTo(pointer, 'each')).map(({ row = {}, place }) => ({
    row,
    place,
    value: filled(rest, { ...variables, ...row }),
  }));
}
