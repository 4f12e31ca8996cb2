import { dirname, resolve } from 'node:path';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { GeoipDatabase } from '../policy/env/facts.ts';
import { FileError, readBytes } from '../project_files/load_config.ts';

/** Opens the databases that an edge file names, with paths relative to the file; throws FileError. */
export function geoipDatabasesOf(config: EdgeConfig, file: string): Promise<readonly GeoipDatabase[]> {
  return openGeoipDatabases(config.address_databases, dirname(file));
}

/** Opens address databases in the MaxMind DB format; lookups try them in this order. Throws FileError. */
export async function openGeoipDatabases(
  names: readonly string[],
  folder: string,
): Promise<readonly GeoipDatabase[]> {
  if (names.length === 0) return [];
  const { isMmdbProblem, openMmdb } = await import('../policy/env/mmdb.ts');
  const books: GeoipDatabase[] = [];
  for (const name of names) {
    const book = openMmdb(readBytes(resolve(folder, name)));
    if (isMmdbProblem(book)) throw new FileError(`${name} is not an address database: ${book.problem}`);
    books.push(book);
  }
  return books;
}
