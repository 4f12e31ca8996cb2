import { ClaimTaken, DEAD_LETTERS_KEPT, Dangling, type StoredObject, type Transaction } from './port.ts';
import type { Connection } from './postgres_connection.ts';
import { postgresView } from './postgres_view.ts';

/** Writes to a PostgreSQL database, within the open transaction of a connection. */
export function postgresTransaction(connection: Pick<Connection, 'run'>): Omit<Transaction, 'undone'> {
  const { run } = connection;
  return {
    ...postgresView(connection),
    insert: async (object) => {
      const { kind, parent, body } = object;
      await connectObject(connection, object, INSERT, [kind, parent, JSON.stringify(body)]);
    },
    replace: async (object) => {
      await run(REPLACE, [object.id, JSON.stringify(object.body)]);
      const { references, claims } = object;
      if (references.length + claims.length > 0) await connectObject(connection, object, CONNECT);
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

const REPLACE = `
  WITH forgotten AS (DELETE FROM references_made WHERE from_id = $1),
    freed AS (DELETE FROM claims WHERE owner = $1)
  UPDATE objects SET body = $2 WHERE id = $1`;

/** A reference to a part of an object from outside of it. */
const REFERRED_PART = `
  SELECT made.from_id FROM objects part
  JOIN references_made made ON made.to_id = part.id
  JOIN objects referrer ON referrer.id = made.from_id
  WHERE part.parent = $1 AND referrer.parent IS DISTINCT FROM $1 LIMIT 1`;

/**
 * Stores the references and claims of an object, in one statement however many there are: each one is an answer that is
 * waited for. Gives the first reference to nothing, and the number of claims that were free.
 */
const CONNECTING = `
  referred AS (INSERT INTO references_made (from_id, to_id) SELECT $1, unnest($2::text[])),
  claimed AS (
    INSERT INTO claims (space, value, value_hash, owner)
    SELECT space, value, sha256(convert_to(value, 'UTF8')), $1 FROM unnest($3::text[], $4::text[]) AS claim (space, value)
    ON CONFLICT DO NOTHING RETURNING 1)
  SELECT (SELECT count(*) FROM claimed) AS claimed, (
    SELECT to_id FROM unnest($2::text[]) AS made (to_id)
    WHERE to_id <> $1 AND NOT EXISTS (SELECT FROM objects WHERE id = to_id) LIMIT 1) AS missing`;
const CONNECT = `WITH ${CONNECTING}`;
const INSERT = `
  WITH made AS (INSERT INTO objects (id, kind, parent, body) VALUES ($1, $5, $6, $7)), ${CONNECTING}`;

/** The place, from 1, of the first claim that another object has. */
const TAKEN = `
  SELECT place FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS claim (space, value, place)
  JOIN claims known ON known.space = claim.space AND known.value_hash = sha256(convert_to(claim.value, 'UTF8'))
  WHERE known.owner <> $1 ORDER BY place LIMIT 1`;

async function connectObject(
  { run }: Pick<Connection, 'run'>,
  { id, references, claims }: StoredObject,
  sql: string,
  more: readonly unknown[] = [],
): Promise<void> {
  const claiming = [claims.map(({ space }) => space), claims.map(({ value }) => value)];
  const [made] = await run(sql, [id, [...new Set(references)], ...claiming, ...more]);
  const { claimed, missing } = made!;
  if (typeof missing === 'string') throw new Dangling(id, missing);
  if (Number(claimed) === claims.length) return;
  const taken = (await run(TAKEN, [id, ...claiming]))[0]?.['place'];
  const places = [placeOfRepeated(claims), ...(taken === undefined ? [] : [Number(taken) - 1])];
  throw new ClaimTaken(claims[Math.min(...places)]!);
}

/** The place of the first claim that an object makes for the second time; the number of claims if there is none. */
function placeOfRepeated(claims: StoredObject['claims']): number {
  const known = new Set<string>();
  const place = claims.findIndex(({ space, value }) => known.size === known.add(`${space} ${value}`).size);
  return place < 0 ? claims.length : place;
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
