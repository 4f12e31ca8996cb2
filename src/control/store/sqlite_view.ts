import { setImmediate } from 'node:timers/promises';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ResourceObject } from '../resources/contract.ts';
import {
  AFTER_EVERY_ID,
  ClaimTaken,
  DEAD_LETTERS_KEPT,
  Dangling,
  type DeadLetter,
  type Delivery,
  type StoredObject,
  type Transaction,
  type View,
} from './port.ts';
import { type Row, objectOf } from './rows.ts';

/** Objects read in one turn of the event loop: a few milliseconds. */
const SLICE = 1_000;

const lengths = new WeakMap<ResourceObject, number>();

/** The length of an object that `get` or `list` has read, in characters of JSON. */
export const jsonLength = (object: ResourceObject): number => lengths.get(object) ?? 0;

function measuredObject(row: Row): ResourceObject {
  const object = objectOf(row);
  lengths.set(object, (row['body'] as string).length);
  return object;
}

/** Audit records and pending deliveries. */
function deliveryView(
  prepared: Prepared,
): Pick<View, 'audit' | 'waiting' | 'waitingCount' | 'deadLetters' | 'deadLetterCount'> {
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
    waitingCount: async (destination) => countOf(prepared, destination, 'waiting'),
    deadLetters: async (destination, limit) =>
      prepared(
        'SELECT sequence, reason, event FROM dead_letters WHERE destination = ? ORDER BY sequence LIMIT ?',
      ).all(destination, limit) as unknown as DeadLetter[],
    deadLetterCount: async (destination) => countOf(prepared, destination, 'dead'),
  };
}

function countOf(prepared: Prepared, destination: string, what: 'waiting' | 'dead'): number {
  const row = prepared('SELECT * FROM delivery_counts WHERE destination = ?').get(destination);
  return Number(row?.[what] ?? 0);
}

/** Reads of an SQLite database. */
export function sqliteView(database: DatabaseSync): View {
  const prepared = preparing(database);
  return {
    get: async (id) => {
      const row = prepared('SELECT * FROM objects WHERE id = ?').get(id);
      return row === undefined ? null : measuredObject(row);
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
      return rows.map(measuredObject);
    },
    all: async (kinds) => {
      const found: ResourceObject[] = [];
      for (const kind of kinds) {
        for (let last: string | undefined = ''; last !== undefined;) {
          const rows: Row[] = prepared(
            'SELECT * FROM objects WHERE kind = ? AND id > ? ORDER BY id LIMIT ?',
          ).all(kind, last, SLICE);
          for (const row of rows) found.push(objectOf(row));
          last = rows.length < SLICE ? undefined : found.at(-1)!.id;
          if (last !== undefined) await setImmediate();
        }
      }
      return found;
    },
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
export function sqliteTransaction(
  database: DatabaseSync,
): (undoing: Pick<Transaction, 'undone'>) => Transaction {
  const prepared = preparing(database);
  const forget = (id: string): void => {
    prepared('DELETE FROM references_made WHERE from_id = ?').run(id);
    prepared('DELETE FROM claims WHERE owner = ?').run(id);
  };
  const connect = ({ id, references, claims }: StoredObject): void => {
    for (const to of new Set(references)) {
      if (prepared('SELECT 1 FROM objects WHERE id = ?').get(to) === undefined) throw new Dangling(id, to);
      prepared('INSERT INTO references_made (from_id, to_id) VALUES (?, ?)').run(id, to);
    }
    for (const claim of claims) {
      if (ownerOf(prepared, claim.space, claim.value) !== null) throw new ClaimTaken(claim);
      prepared('INSERT INTO claims (space, value, owner) VALUES (?, ?, ?)').run(claim.space, claim.value, id);
    }
  };
  const transaction: Omit<Transaction, 'undone'> = {
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
      const outside = prepared(REFERRED_PART).get(id, id);
      prepared('DELETE FROM objects WHERE id = ?').run(id);
      const left = outside ?? prepared('SELECT from_id FROM references_made WHERE to_id = ?').get(id);
      if (left !== undefined) throw new Dangling(left['from_id'] as string, id);
    },
    ...deliveryWrites(prepared),
    set: async (name, value) => {
      prepared('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)').run(name, value);
    },
  };
  return ({ undone }) => ({ ...transaction, undone });
}

/** Writes of audit records, pending deliveries and dead letters. */
function deliveryWrites(
  prepared: Prepared,
): Pick<Transaction, 'record' | 'delivered' | 'dropOldest' | 'bury' | 'revive' | 'expire'> {
  return {
    record: async ({ eventId, eventType, objectId, event, isDroppable = false }, destinations) => {
      prepared('INSERT INTO audit (event_id, event_type, object_id, event) VALUES (?, ?, ?, ?)').run(
        eventId,
        eventType,
        objectId,
        event,
      );
      for (const destination of destinations) {
        prepared('INSERT INTO deliveries (destination, event, droppable) VALUES (?, ?, ?)').run(
          destination,
          event,
          isDroppable ? 1 : 0,
        );
      }
    },
    delivered: async (sequences) => {
      for (const sequence of sequences) prepared('DELETE FROM deliveries WHERE sequence = ?').run(sequence);
    },
    dropOldest: async (destination, keep) =>
      Number(prepared(EXCESS_DELIVERIES).run(destination, keep).changes),
    bury: async (destination, letters) => {
      for (const { reason, event } of letters) {
        prepared('INSERT INTO dead_letters (destination, reason, event) VALUES (?, ?, ?)').run(
          destination,
          reason,
          event,
        );
      }
      prepared(OLD_DEAD_LETTERS).run(destination, DEAD_LETTERS_KEPT);
    },
    revive: async (destination) => {
      const read = 'SELECT destination, event FROM dead_letters WHERE destination = ? ORDER BY sequence';
      prepared(`INSERT INTO deliveries (destination, event) ${read}`).run(destination);
      return Number(prepared('DELETE FROM dead_letters WHERE destination = ?').run(destination).changes);
    },
    expire: async (what, before, limit) => {
      const oldest = `SELECT sequence FROM ${what} ORDER BY sequence LIMIT ?`;
      const sql = `DELETE FROM ${what} WHERE sequence IN (${oldest}) AND event ->> '$.event_timestamp' < ?`;
      return Number(prepared(sql).run(limit, before).changes);
    },
  };
}

const EXCESS_DELIVERIES = `
  DELETE FROM deliveries WHERE sequence IN (
    SELECT sequence FROM deliveries WHERE destination = ? AND droppable = 1
    ORDER BY sequence DESC LIMIT -1 OFFSET ?)`;

const OLD_DEAD_LETTERS = `
  DELETE FROM dead_letters WHERE sequence IN (
    SELECT sequence FROM dead_letters WHERE destination = ? ORDER BY sequence DESC LIMIT -1 OFFSET ?)`;

/** A reference to a part of an object from outside of it. */
const REFERRED_PART = `
  SELECT made.from_id FROM objects part
  JOIN references_made made ON made.to_id = part.id
  JOIN objects referrer ON referrer.id = made.from_id
  WHERE part.parent = ? AND referrer.parent IS NOT ?`;

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
