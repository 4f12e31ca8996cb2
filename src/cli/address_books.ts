import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { AddressBook } from '../expression/vocabulary/facts.ts';
import { FileError } from './load_config.ts';

/** Opens the databases that an edge file names, by paths beside the file; throws FileError. */
export function addressBooksOf(config: EdgeConfig, file: string): Promise<readonly AddressBook[]> {
  return openAddressBooks(config.address_databases, dirname(file));
}

/** Opens databases of addresses in the MaxMind DB format, asked in this order; throws FileError. */
export async function openAddressBooks(
  names: readonly string[],
  folder: string,
): Promise<readonly AddressBook[]> {
  if (names.length === 0) return [];
  const { isMmdbProblem, openMmdb } = await import('../expression/vocabulary/mmdb.ts');
  const books: AddressBook[] = [];
  for (const name of names) {
    let bytes: Uint8Array;
    try {
      bytes = await readFile(resolve(folder, name));
    } catch {
      throw new FileError(`cannot read the address database ${name}`);
    }
    const book = openMmdb(bytes);
    if (isMmdbProblem(book)) throw new FileError(`${name} is not an address database: ${book.problem}`);
    books.push(book);
  }
  return books;
}
