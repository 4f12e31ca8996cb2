import type { ResourceObject } from '../resources/contract.ts';

/** A row of a database, by its columns. PostgreSQL gives numbers of 64 bits as texts. */
export type Row = Readonly<Record<string, unknown>>;

/** An object as both databases store it: a row of `objects` with its body as JSON. */
export function objectOf(row: Row): ResourceObject {
  return {
    id: row['id'] as string,
    kind: row['kind'] as string,
    parent: row['parent'] as string | null,
    body: JSON.parse(row['body'] as string) as Row,
  };
}
