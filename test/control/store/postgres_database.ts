import { Client } from 'pg';
import { skipped } from '../../peers.ts';
import { uniqueName } from '../../unique_name.ts';

/** The server of this machine whose databases tests make and drop. */
const SERVER = process.env['EDGEPROOF_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Runs statements beside the store; returns the rows of each. */
export async function administered(url: string, ...statements: readonly string[]): Promise<readonly Rows[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
  await client.connect();
  try {
    const answers: Rows[] = [];
    for (const statement of statements) answers.push((await client.query<Rows[number]>(statement)).rows);
    return answers;
  } finally {
    await client.end();
  }
}

/** Whether a PostgreSQL can be reached; prints what is skipped where none can. */
export async function hasPostgres(what: string): Promise<boolean> {
  try {
    await administered(SERVER, 'SELECT 1');
    return true;
  } catch (error) {
    skipped(what, `no PostgreSQL at ${new URL(SERVER).host} (${(error as Error).message})`);
    return false;
  }
}

/** A database of its own, and what drops it. */
export async function newDatabase(
  server: string = SERVER,
): Promise<{ readonly url: string; readonly drop: () => Promise<unknown> }> {
  const name = `edgeproof_test_${uniqueName()}`;
  await administered(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => administered(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** A schema of its own in a database, as the URL of a store. */
export async function newSchema(database: string): Promise<string> {
  const name = `s${uniqueName()}`;
  await administered(database, `CREATE SCHEMA ${name}`);
  const url = new URL(database);
  url.searchParams.set('options', `-csearch_path=${name}`);
  return url.href;
}
