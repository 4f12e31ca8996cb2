import { ClaimTaken, DEAD_LETTERS_KEPT, Dangling, type StoredObject, type Transaction } from './port.ts';
import type { Connection } from './postgres_connection.ts';
import { postgresView } from './postgres_view.ts';

/** Writes to a PostgreSQL database, within the open transaction of a connection. */
export function postgresTransaction(connection: Pick<Connection, 'run'>): Omit<Transaction, 'undone'> {
  const { run } = connection;
  return {
    ...postgresView(connection),
    insert: async (object) => {
      const { id, kind, parent, body } = object;
      const values = [id, kind, parent, JSON.stringify(body)];
      await run('INSERT INTO objects (id, kind, parent, body) VALUES ($1, $2, $3, $4)', values);
      await connectObject(connection, object);
    },
    replace: async (object) => {
      await run('UPDATE objects SET body = $1 WHERE id = $2', [JSON.stringify(object.body), object.id]);
      await run(FORGET, [object.id]);
      await connectObject(connection, object);
    },
    remove: async (id) => {
      const outside = (await run(REFERRED_PART, [id]))[0];
      await run('DELETE FROM objects WHERE id = $1', [id]);
      const left =
        outside ?? (await run('SELECT from_id FROM references_made WHERE to_id = $1 LIMIT 1', [id]))[0];
      if (left !== undefined) throw new Dangling(left['from_id'] as string, id);
    },
    ...deliveryWrites(connection),
    set: async (name, value) => {
      const sql = `INSERT INTO settings (name, value) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
      await run(sql, [name, value]);
    },
  };
}

const FORGET = `
  WITH forgotten AS (DELETE FROM references_made WHERE from_id = $1)
  DELETE FROM claims WHERE owner = $1`;

/** A reference to a part of an object from outside of it. */
const REFERRED_PART = `
  SELECT made.from_id FROM objects part
  JOIN references_made made ON made.to_id = part.id
  JOIN objects referrer ON referrer.id = made.from_id
  WHERE part.parent = $1 AND referrer.parent IS DISTINCT FROM $1 LIMIT 1`;

const MISSING = `
  SELECT to_id FROM unnest($1::text[]) AS made (to_id)
  WHERE NOT EXISTS (SELECT FROM objects WHERE id = to_id) LIMIT 1`;
const REFER = 'INSERT INTO references_made (from_id, to_id) SELECT $1, unnest($2::text[])';

/** Claims a value for an object, unless it is taken. */
const CLAIM = `
  INSERT INTO claims (space, value, value_hash, owner)
  VALUES ($1, $2, sha256(convert_to($2, 'UTF8')), $3)
  ON CONFLICT DO NOTHING RETURNING owner`;

async function connectObject(
  { run }: Pick<Connection, 'run'>,
  { id, references, claims }: StoredObject,
): Promise<void> {
  if (references.length > 0) {
    const to = [...new Set(references)];
    const missing = (await run(MISSING, [to]))[0];
    if (missing !== undefined) throw new Dangling(id, missing['to_id'] as string);
    await run(REFER, [id, to]);
  }
  for (const claim of claims)
    if ((await run(CLAIM, [claim.space, claim.value, id])).length === 0) throw new ClaimTaken(claim);
}

/** Writes of audit records, pending deliveries and dead letters. */
function deliveryWrites({
  run,
}: Pick<Connection, 'run'>): Pick<
  Transaction,
  'record' | 'delivered' | 'dropOldest' | 'bury' | 'revive' | 'expire'
> {
  const changed = async (sql: string, ...values: readonly unknown[]): Promise<number> =>
    Number((await run(`WITH gone AS (${sql} RETURNING 1) SELECT count(*) FROM gone`, values))[0]!['count']);
  return {
    record: async ({ eventId, eventType, objectId, event, isDroppable = false }, destinations) => {
      await run('INSERT INTO audit (event_id, event_type, object_id, event) VALUES ($1, $2, $3, $4)', [
        eventId,
        eventType,
        objectId,
        event,
      ]);
      if (destinations.length > 0) await run(DELIVER, [destinations, event, isDroppable]);
    },
    delivered: async (sequences) => {
      if (sequences.length > 0)
        await run('DELETE FROM deliveries WHERE sequence = ANY ($1::bigint[])', [sequences]);
    },
    dropOldest: (destination, keep) => changed(EXCESS_DELIVERIES, destination, keep),
    bury: async (destination, letters) => {
      const columns = [letters.map(({ reason }) => reason), letters.map(({ event }) => event)];
      await run(BURY, [destination, ...columns]);
      await run(OLD_DEAD_LETTERS, [destination, DEAD_LETTERS_KEPT]);
    },
    revive: async (destination) => {
      const read = 'SELECT destination, event FROM dead_letters WHERE destination = $1 ORDER BY sequence';
      await run(`INSERT INTO deliveries (destination, event) ${read}`, [destination]);
      return changed('DELETE FROM dead_letters WHERE destination = $1', destination);
    },
    expire: (what, before, limit) => {
      const oldest = `SELECT sequence FROM ${what} ORDER BY sequence LIMIT $1`;
      return changed(
        `DELETE FROM ${what} WHERE sequence IN (${oldest}) AND ${TIMESTAMP} < $2::text COLLATE "C"`,
        limit,
        before,
      );
    },
  };
}

const DELIVER = `
  INSERT INTO deliveries (destination, event, droppable)
  SELECT destination, $2, $3 FROM unnest($1::text[]) WITH ORDINALITY AS to_each (destination, place) ORDER BY place`;

const EXCESS_DELIVERIES = `
  DELETE FROM deliveries WHERE sequence IN (
    SELECT sequence FROM deliveries WHERE destination = $1 AND droppable
    ORDER BY sequence DESC OFFSET $2)`;

const BURY = `
  INSERT INTO dead_letters (destination, reason, event)
  SELECT $1, reason, event FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS letter (reason, event, place)
  ORDER BY place`;

const OLD_DEAD_LETTERS = `
  DELETE FROM dead_letters WHERE sequence IN (
    SELECT sequence FROM dead_letters WHERE destination = $1 ORDER BY sequence DESC OFFSET $2)`;

/** The time of an event; taken out as JSON, because texts beside it may have escapes that no text of PostgreSQL has. */
const TIMESTAMP = `
  trim(BOTH '"' FROM (CASE WHEN left(event, 1) = '{' THEN event::json -> 'event_timestamp' END)::text)`;
