import { secretText } from '../../crypto/random.ts';
import { type StoreSource, type StoreTarget, selectOf } from './copied_tables.ts';
import { StoreError } from './port.ts';
import { openPostgresStore, storeName } from './postgres.ts';
import { BEGIN_SNAPSHOT, type Connection, connect } from './postgres_connection.ts';

/** Reading and filling a large store may take the database longer than a request may wait. */
const TIMES = { connectMs: 5_000, beginMs: 5_000, answerMs: 600_000 };
const ROWS = 500;
const TYPES: Readonly<Record<string, string>> = { sequence: 'bigint', droppable: 'boolean' };

async function opened(url: string): Promise<Connection> {
  // Opening it makes its tables, or brings them to the current version.
  await (await openPostgresStore(url)).close();
  return connect(url, TIMES);
}

/** Reads a store in PostgreSQL, which nodes may serve. Throws StoreError. */
export async function postgresSource(url: string): Promise<StoreSource> {
  const connection = await opened(url);
  await connection.run(BEGIN_SNAPSHOT);
  return {
    rows: async function* (table) {
      await connection.run(`DECLARE rows CURSOR FOR ${selectOf(table)}`);
      for (;;) {
        const rows = await connection.run(`FETCH ${ROWS} FROM rows`);
        if (rows.length === 0) break;
        yield rows.map((row) => table.columns.map((column) => stored(row[column])));
      }
      await connection.run('CLOSE rows');
    },
    close: connection.close,
  };
}

/** A value as SQLite has it. */
function stored(value: unknown): string | number {
  return typeof value === 'boolean' ? Number(value) : (value as string | number);
}

/** Fills a store in PostgreSQL that has nothing. Throws StoreError. */
export async function postgresTarget(url: string): Promise<StoreTarget> {
  const connection = await opened(url);
  await connection.run('BEGIN; SELECT number FROM revision FOR UPDATE');
  const [kept] = await connection.run(
    'SELECT EXISTS (SELECT FROM objects) OR EXISTS (SELECT FROM settings) AS is_used',
  );
  if (kept?.['is_used'] === true) {
    await connection.close();
    throw new StoreError(
      `the store ${storeName(url)} is in use, and is not overwritten; give the copy an empty database or schema`,
    );
  }
  return {
    write: async ({ name, columns }, rows) => {
      const lists = columns.map((_, at) => rows.map((row) => row[at]));
      const types = columns.map((column, at) => `$${at + 1}::${TYPES[column] ?? 'text'}[]`);
      const [more, hash] =
        name === 'claims' ? [', value_hash', ", sha256(convert_to(value, 'UTF8'))"] : ['', ''];
      await connection.run(
        `INSERT INTO ${name} (${columns.join(', ')}${more}) OVERRIDING SYSTEM VALUE
         SELECT ${columns.join(', ')}${hash} FROM unnest(${types.join(', ')}) AS row (${columns.join(', ')})`,
        lists,
      );
    },
    commit: async () => {
      for (const table of ['audit', 'deliveries', 'dead_letters'])
        await connection.run(
          `SELECT setval(pg_get_serial_sequence('${table}', 'sequence'), max(sequence)) FROM ${table}
           HAVING max(sequence) IS NOT NULL`,
        );
      await connection.run('UPDATE revision SET number = number + 1');
      await connection.run(
        "INSERT INTO changes (revision, what) SELECT number, 'write ' || $1 FROM revision",
        [secretText(20)],
      );
      await connection.run('COMMIT');
    },
    close: connection.close,
  };
}
