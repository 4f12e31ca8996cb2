import { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Client, ClientConfig, QueryConfig, QueryResult } from 'pg';
import { lazyLoad } from '../../loading/lazy_load.ts';
import { cutOff } from './postgres_faults.ts';
import type { Row } from './rows.ts';

/** Begins a transaction that reads one state of the store. */
export const BEGIN_SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

const pg = lazyLoad(async () => (await import('pg')).default);

/** One connection to the database. */
export interface Connection {
  /**
   * Runs one statement with its values, or several without. Throws an error of the database, or StoreUnavailable if
   * the connection was lost.
   */
  readonly run: (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  /**
   * Begins a transaction. That takes no work, so a missing answer shows early that the database hangs. `lockMs`: how long the
   * transaction may wait for a lock.
   */
  readonly begin: (sql: string, lockMs?: number) => Promise<void>;
  readonly isLost: () => boolean;
  /** Whether it was given up because no answer came: another connection would most likely get none, too. */
  readonly isSilent: () => boolean;
  /** What another connection sends by NOTIFY. */
  readonly onNotice: (heard: () => void) => void;
  readonly onLost: (lost: () => void) => void;
  readonly close: () => Promise<void>;
}

/** Time for a connection to be made, for a transaction to begin, and for a statement to be answered. */
export interface LinkTimes {
  readonly connectMs: number;
  readonly beginMs: number;
  readonly answerMs: number;
}

/** Time for the goodbye of a connection. */
const CLOSE_MS = 1_000;

/** Not in any text: PostgreSQL has no character U+0000 in texts, so this stands for it in names and ids. */
const NO_CHARACTER = '\uFFFE';

/** A timer may fire this much before its time: it counts from the start of the turn of the event loop that has set it. */
const EARLY_MS = 10;

/** How a session is set up: what is acknowledged is on disk, and a session whose client has gone holds its locks briefly. */
const SET_UP = `
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
  SET client_encoding = 'UTF8'; SET TIME ZONE 'UTC';
  SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;`;

/** Connects; throws StoreUnavailable, or an error of the database that refuses. */
export async function connect(url: string, times: LinkTimes): Promise<Connection> {
  const { connectMs, answerMs } = times;
  const { Client: NewClient } = await pg.get();
  const socket = new Socket();
  const options: ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    query_timeout: answerMs,
    keepAlive: true,
    stream: () => socket,
    fallback_application_name: 'edgeproof',
  };
  const connection = connectionOf(new NewClient(options), socket, times);
  try {
    await connection.open();
    await connection.run(SET_UP);
    return connection;
  } catch (error) {
    await connection.close();
    throw cutOff(error);
  }
}

function connectionOf(
  client: Client,
  socket: Socket,
  { beginMs, answerMs }: LinkTimes,
): Connection & { readonly open: () => Promise<void> } {
  let isLost = false;
  let isSilent = false;
  let atLoss: (() => void) | null = null;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    // A connection without an answer is not used again: its transaction ends with it.
    socket.destroy();
    atLoss?.();
  };
  client.on('error', lose);
  client.on('end', lose);
  const names = new Map<string, string>();
  const nameOf = (sql: string): string => {
    let name = names.get(sql);
    if (name === undefined) names.set(sql, (name = `s${names.size}`));
    return name;
  };
  const asked = async (query: QueryConfig, withinMs: number): Promise<readonly Row[]> => {
    const atMs = performance.now();
    try {
      // The types of the library lack the time of one query.
      const timed = { ...query, query_timeout: withinMs };
      return rowsOf(await client.query(timed as QueryConfig));
    } catch (error) {
      const fault = cutOff(error);
      if (fault !== error) {
        isSilent = performance.now() - atMs >= withinMs - EARLY_MS;
        lose();
      }
      throw fault;
    }
  };
  return {
    open: async () => void (await client.connect()),
    run: (sql, values) =>
      asked(
        values === undefined ? { text: sql } : { name: nameOf(sql), text: sql, values: values.map(storable) },
        answerMs,
      ),
    begin: async (sql, lockMs = 0) => void (await asked({ text: sql }, beginMs + lockMs)),
    isLost: () => isLost,
    isSilent: () => isSilent,
    onNotice: (heard) => void client.on('notification', heard),
    onLost: (lost) => {
      atLoss = lost;
      if (isLost) lost();
    },
    close: async () => {
      atLoss = null;
      if (!isLost) {
        isLost = true;
        await Promise.race([client.end().catch(() => undefined), setTimeout(CLOSE_MS)]);
      }
      socket.destroy();
    },
  };
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', NO_CHARACTER);
  return Array.isArray(value) ? value.map(storable) : value;
}

/** The rows of the last of several statements. */
function rowsOf(result: QueryResult | readonly QueryResult[]): readonly Row[] {
  return (Array.isArray(result) ? (result.at(-1) as QueryResult) : (result as QueryResult)).rows as Row[];
}
