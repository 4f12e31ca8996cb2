import { existsSync } from 'node:fs';
import { COPIED_TABLES } from './store/copied_tables.ts';
import { StoreError, StoreUnavailable } from './store/port.ts';
import { isPostgres, storeName } from './store/postgres.ts';
import { postgresSource, postgresTarget } from './store/postgres_rows.ts';
import { sqliteSource, sqliteTarget } from './store/sqlite_rows.ts';
import { SAML_SETTING, readSamlFile, samlFileOf, writeSamlFile } from './saml_keys.ts';

/** What was copied: the number of objects and of audit records. */
interface Copied {
  readonly objects: number;
  readonly records: number;
}

/** A place as `sqlite:file`, a file, or `postgres://…`, without the prefix. */
export const placeOf = (text: string): string => text.replace(/^sqlite:(?:\/\/)?/, '');

/**
 * Copies a store to one that does not exist or is empty: all of it, as at one moment, or nothing. Secrets stay sealed with the
 * same key. Throws StoreError, and StoreUnavailable.
 */
export async function copyStore(from: string, to: string): Promise<Copied> {
  if (!isPostgres(to) && existsSync(samlFileOf(to)))
    throw new StoreError(
      `${samlFileOf(to)} exists, and is not overwritten; choose another name, or remove it`,
    );
  const source = await (isPostgres(from) ? postgresSource(from) : sqliteSource(from));
  try {
    const target = await (isPostgres(to) ? postgresTarget(to) : sqliteTarget(to));
    try {
      return await copied(from, to, { source, target });
    } finally {
      await target.close();
    }
  } catch (error) {
    if (error instanceof StoreError || error instanceof StoreUnavailable) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new StoreError(`${storeName(from)} was not copied to ${storeName(to)}: ${message}`, {
      cause: error,
    });
  } finally {
    await source.close();
  }
}

interface Ends {
  readonly source: Awaited<ReturnType<typeof sqliteSource>>;
  readonly target: Awaited<ReturnType<typeof sqliteTarget>>;
}

async function copied(from: string, to: string, { source, target }: Ends): Promise<Copied> {
  const counts = new Map<string, number>();
  let samlKeys = isPostgres(from) ? null : readSamlFile(from);
  for (const table of COPIED_TABLES)
    for await (const rows of source.rows(table)) {
      // Stores in files have the keys that sign SAML requests beside them, sealed as they are in the others.
      const isSaml = ([name]: (typeof rows)[number]) => table.name === 'settings' && name === SAML_SETTING;
      samlKeys ??= (rows.find(isSaml)?.[1] as string | undefined) ?? null;
      const kept = rows.filter((row) => !isSaml(row));
      if (kept.length > 0) await target.write(table, kept);
      counts.set(table.name, (counts.get(table.name) ?? 0) + kept.length);
    }
  if ([...counts.values()].every((count) => count === 0))
    throw new StoreError(
      `${storeName(from)} has nothing to copy: no instance has served it; name the store of an instance`,
    );
  if (samlKeys !== null && isPostgres(to))
    await target.write(
      COPIED_TABLES.find(({ name }) => name === 'settings')!,
      [[SAML_SETTING, samlKeys]],
    );
  await target.commit();
  if (samlKeys !== null && !isPostgres(to)) writeSamlFile(to, samlKeys);
  return { objects: counts.get('objects') ?? 0, records: counts.get('audit') ?? 0 };
}
