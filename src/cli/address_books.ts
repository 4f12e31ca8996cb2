import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { AddressBook } from '../expression/vocabulary/facts.ts';
import { FileError } from './load_config.ts';

/** Opens the databases that an edge file names, by paths beside the file; throws FileError. */
export async function addressBooksOf(config: EdgeConfig, file: string): Promise<readonly AddressBook[]> {
  if (config.address_databases.length === 0) return [];
  const { isMmdbProblem, openMmdb } = await import('../expression/vocabulary/mmdb.ts');
  const books: AddressBook[] = [];
  for (const name of config.address_databases) {
    const path = resolve(dirname(file), name);
    let bytes: Uint8Array;
    try {
      bytes = await readFile(path);
    } catch {
      throw new FileError(`cannot read the address database ${name}`);
    }
    const book = openMmdb(bytes);
    if (isMmdbProblem(book)) throw new FileError(`${name} is not an address database: ${book.problem}`);
    books.push(book);
  }
  return books;
}
