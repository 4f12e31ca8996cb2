/** The rows of a store that its copy has, in an order in which they can be written; both databases read this SQL. */

type Value = string | number;
export type Values = readonly Value[];

interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The rows; by default all, in the order of the first column. */
  readonly select?: string;
}

/** Parents before their parts. */
const BY_DEPTH = `
  WITH RECURSIVE placed (id, depth) AS (
    SELECT id, 0 FROM objects WHERE parent IS NULL
    UNION ALL SELECT part.id, depth + 1 FROM objects part JOIN placed ON part.parent = placed.id)
  SELECT objects.id, kind, parent, body FROM placed JOIN objects ON objects.id = placed.id ORDER BY depth, objects.id`;

// table: without counts, which triggers keep
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'objects', columns: ['id', 'kind', 'parent', 'body'], select: BY_DEPTH },
  { name: 'references_made', columns: ['from_id', 'to_id'] },
  { name: 'claims', columns: ['space', 'value', 'owner'] },
  { name: 'audit', columns: ['sequence', 'event_id', 'event_type', 'object_id', 'event'] },
  { name: 'deliveries', columns: ['sequence', 'destination', 'event', 'droppable'] },
  { name: 'dead_letters', columns: ['sequence', 'destination', 'reason', 'event'] },
  { name: 'settings', columns: ['name', 'value'] },
];

export function selectOf({ name, columns, select }: CopiedTable): string {
  return select ?? `SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${columns[0]}`;
}

/** Reads a store at one moment. */
export interface StoreSource {
  /** Rows of a table, some at a time. */
  readonly rows: (table: CopiedTable) => AsyncIterable<readonly Values[]>;
  readonly close: () => Promise<void>;
}

/** Fills an empty store in one transaction. */
export interface StoreTarget {
  readonly write: (table: CopiedTable, rows: readonly Values[]) => Promise<void>;
  readonly commit: () => Promise<void>;
  /** Closes it; what was not committed is undone. */
  readonly close: () => Promise<void>;
}
