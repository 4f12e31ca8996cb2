import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ClaimTaken, type Delivery, type StoredObject, type Transaction, type View } from './port.ts';

type Row = Readonly<Record<string, unknown>>;

/** Sorts after every id: ids consist of lower-case letters, digits and underscores. */
const AFTER_EVERY_ID = '~';

/** An object with its references and claims. */
function objectOf(row: Row, prepared: Prepared): StoredObject {
  const id = row['id'] as string;
  const references = prepared('SELECT to_id FROM references_made WHERE from_id = ? ORDER BY to_id').all(id);
  const claims = prepared('SELECT space, value FROM claims WHERE owner = ? ORDER BY space, value').all(id);
  return {
    id,
    kind: row['kind'] as string,
    parent: row['parent'] as string | null,
    body: JSON.parse(row['body'] as string) as Row,
    references: references.map((each) => each['to_id'] as string),
    claims: claims.map((each) => ({ space: each['space'] as string, value: each['value'] as string })),
  };
}

/** Audit records and pending deliveries. */
function deliveryView(prepared: Prepared): Pick<View, 'audit' | 'waiting' | 'waitingCount'> {
  return {
    audit: async (limit) =>
      prepared('SELECT * FROM audit ORDER BY sequence DESC LIMIT ?')
        .all(limit)
        .map((row) => ({
          eventId: row['event_id'] as string,
          eventType: row['event_type'] as string,
          objectId: row['object_id'] as string,
          event: row['event'] as string,
        })),
    waiting: async (destination, limit) =>
      prepared('SELECT sequence, event FROM deliveries WHERE destination = ? ORDER BY sequence LIMIT ?').all(
        destination,
        limit,
      ) as unknown as Delivery[],
    waitingCount: async (destination) =>
      Number(
        prepared('SELECT count(*) AS number FROM deliveries WHERE destination = ?').get(destination)![
          'number'
        ],
      ),
  };
}

/** Reads of an SQLite database. */
export function sqliteView(database: DatabaseSync): View {
  const prepared = preparing(database);
  const object = (row: Row): StoredObject => objectOf(row, prepared);
  return {
    get: async (id) => {
      const row = prepared('SELECT * FROM objects WHERE id = ?').get(id);
      return row === undefined ? null : object(row);
    },
    list: async (kind, { parent, beforeId = AFTER_EVERY_ID, limit }) => {
      const rows =
        parent === undefined
          ? prepared('SELECT * FROM objects WHERE kind = ? AND id < ? ORDER BY id DESC LIMIT ?').all(
              kind,
              beforeId,
              limit,
            )
          : prepared(
              'SELECT * FROM objects WHERE parent = ? AND kind = ? AND id < ? ORDER BY id DESC LIMIT ?',
            ).all(parent, kind, beforeId, limit);
      return rows.map(object);
    },
    all: async (kinds) =>
      // Whole snapshots are read often and need neither references nor claims.
      kinds.flatMap((kind) =>
        prepared('SELECT * FROM objects WHERE kind = ? ORDER BY id')
          .all(kind)
          .map((row) => ({
            id: row['id'] as string,
            kind,
            parent: row['parent'] as string | null,
            body: JSON.parse(row['body'] as string) as Row,
            references: [],
            claims: [],
          })),
      ),
    referrers: async (id) =>
      prepared('SELECT from_id FROM references_made WHERE to_id = ? ORDER BY from_id')
        .all(id)
        .map((row) => row['from_id'] as string),
    claimant: async ({ space, value }) => ownerOf(prepared, space, value),
    ...deliveryView(prepared),
    setting: async (name) =>
      (prepared('SELECT value FROM settings WHERE name = ?').get(name)?.['value'] as string | undefined) ??
      null,
  };
}

/** Writes to an SQLite database, within the open transaction. */
export function sqliteTransaction(database: DatabaseSync): Transaction {
  const prepared = preparing(database);
  const forget = (id: string): void => {
    prepared('DELETE FROM references_made WHERE from_id = ?').run(id);
    prepared('DELETE FROM claims WHERE owner = ?').run(id);
  };
  const connect = ({ id, references, claims }: StoredObject): void => {
    for (const to of new Set(references)) {
      prepared('INSERT INTO references_made (from_id, to_id) VALUES (?, ?)').run(id, to);
    }
    for (const claim of claims) {
      if (ownerOf(prepared, claim.space, claim.value) !== null) throw new ClaimTaken(claim);
      prepared('INSERT INTO claims (space, value, owner) VALUES (?, ?, ?)').run(claim.space, claim.value, id);
    }
  };
  return {
    ...sqliteView(database),
    insert: async (object) => {
      const { id, kind, parent, body } = object;
      prepared('INSERT INTO objects (id, kind, parent, body) VALUES (?, ?, ?, ?)').run(
        id,
        kind,
        parent,
        JSON.stringify(body),
      );
      connect(object);
    },
    replace: async (object) => {
      prepared('UPDATE objects SET body = ? WHERE id = ?').run(JSON.stringify(object.body), object.id);
      forget(object.id);
      connect(object);
    },
    remove: async (id) => {
      prepared('DELETE FROM objects WHERE id = ?').run(id);
    },
    record: async ({ eventId, eventType, objectId, event }, destinations) => {
      prepared('INSERT INTO audit (event_id, event_type, object_id, event) VALUES (?, ?, ?, ?)').run(
        eventId,
        eventType,
        objectId,
        event,
      );
      for (const destination of destinations) {
        prepared('INSERT INTO deliveries (destination, event) VALUES (?, ?)').run(destination, event);
      }
    },
    delivered: async (sequences) => {
      for (const sequence of sequences) prepared('DELETE FROM deliveries WHERE sequence = ?').run(sequence);
    },
    set: async (name, value) => {
      prepared('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)').run(name, value);
    },
  };
}

type Prepared = (sql: string) => StatementSync;

/** Statements are prepared once per connection. */
function preparing(database: DatabaseSync): Prepared {
  const known = new Map<string, StatementSync>();
  return (sql) => {
    let statement = known.get(sql);
    if (statement === undefined) known.set(sql, (statement = database.prepare(sql)));
    return statement;
  };
}

function ownerOf(prepared: Prepared, space: string, value: string): string | null {
  const row = prepared('SELECT owner FROM claims WHERE space = ? AND value = ?').get(space, value);
  return (row?.['owner'] as string | undefined) ?? null;
}
