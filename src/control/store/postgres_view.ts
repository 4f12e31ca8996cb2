import { setImmediate } from 'node:timers/promises';
import type { ResourceObject } from '../resources/contract.ts';
import { AFTER_EVERY_ID, type DeadLetter, type Delivery, type View } from './port.ts';
import type { Connection } from './postgres_connection.ts';
import { type Row, objectOf } from './rows.ts';

/** Objects read by one statement, so that no answer is long. */
const SLICE = 2_000;

const COLUMNS = 'SELECT id, kind, parent, body FROM objects';

/** Reads of a PostgreSQL database, within a transaction. */
export function postgresView({ run }: Pick<Connection, 'run'>): View {
  const one = async (sql: string, ...values: readonly unknown[]): Promise<Row | undefined> =>
    (await run(sql, values))[0];
  return {
    get: async (id) => {
      const row = await one(`${COLUMNS} WHERE id = $1`, id);
      return row === undefined ? null : objectOf(row);
    },
    list: async (kind, { parent, beforeId = AFTER_EVERY_ID, limit }) => {
      const order = 'ORDER BY id DESC LIMIT';
      const rows =
        parent === undefined
          ? await run(`${COLUMNS} WHERE kind = $1 AND id < $2 ${order} $3`, [kind, beforeId, limit])
          : await run(`${COLUMNS} WHERE parent = $1 AND kind = $2 AND id < $3 ${order} $4`, [
              parent,
              kind,
              beforeId,
              limit,
            ]);
      return rows.map(objectOf);
    },
    all: async (kinds) => {
      const found: ResourceObject[] = [];
      for (const kind of kinds) {
        for (let last: string | undefined = ''; last !== undefined;) {
          const sql = `${COLUMNS} WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3`;
          const rows: readonly Row[] = await run(sql, [kind, last, SLICE]);
          for (const row of rows) found.push(objectOf(row));
          last = rows.length < SLICE ? undefined : found.at(-1)!.id;
          if (last !== undefined) await setImmediate();
        }
      }
      return found;
    },
    referrers: async (id) => {
      const rows = await run('SELECT from_id FROM references_made WHERE to_id = $1 ORDER BY from_id', [id]);
      return rows.map((row) => row['from_id'] as string);
    },
    claimant: async ({ space, value }) => {
      const sql = `SELECT owner FROM claims WHERE space = $1 AND value_hash = sha256(convert_to($2, 'UTF8'))`;
      return ((await one(sql, space, value))?.['owner'] as string | undefined) ?? null;
    },
    ...deliveryView({ run }),
    revision: async () => Number((await one('SELECT number FROM revision'))!['number']),
    setting: async (name) =>
      ((await one('SELECT value FROM settings WHERE name = $1', name))?.['value'] as string | undefined) ??
      null,
  };
}

const numbered = (row: Row): Row => ({ ...row, sequence: Number(row['sequence']) });

/** Audit records and pending deliveries. */
function deliveryView({
  run,
}: Pick<Connection, 'run'>): Pick<
  View,
  'audit' | 'waiting' | 'waitingCount' | 'deadLetters' | 'deadLetterCount'
> {
  const countOf = async (destination: string, what: 'waiting' | 'dead'): Promise<number> => {
    const sql = `SELECT ${what} AS count FROM delivery_counts WHERE destination = $1`;
    return Number((await run(sql, [destination]))[0]?.['count'] ?? 0);
  };
  return {
    audit: async (limit) => {
      const rows = await run('SELECT * FROM audit ORDER BY sequence DESC LIMIT $1', [limit]);
      return rows.map((row) => ({
        eventId: row['event_id'] as string,
        eventType: row['event_type'] as string,
        objectId: row['object_id'] as string,
        event: row['event'] as string,
      }));
    },
    waiting: async (destination, limit) => {
      const sql = 'SELECT sequence, event FROM deliveries WHERE destination = $1 ORDER BY sequence LIMIT $2';
      return (await run(sql, [destination, limit])).map(numbered) as unknown as Delivery[];
    },
    waitingCount: (destination) => countOf(destination, 'waiting'),
    deadLetters: async (destination, limit) => {
      const columns = 'SELECT sequence, reason, event FROM dead_letters';
      const sql = `${columns} WHERE destination = $1 ORDER BY sequence LIMIT $2`;
      return (await run(sql, [destination, limit])).map(numbered) as unknown as DeadLetter[];
    },
    deadLetterCount: (destination) => countOf(destination, 'dead'),
  };
}
