import { InvalidArgumentError } from 'commander';
import { existsSync } from 'node:fs';
import { ACCOUNT_SETTING } from '../control/api/account.ts';
import { placeOf } from '../control/store_copy.ts';
import { type Store, StoreError } from '../control/store/port.ts';
import { isPostgres, openPostgresStore, storeName } from '../control/store/postgres.ts';
import { openSqliteStore, refuseEmptyFile } from '../control/store/sqlite.ts';
import { EXIT } from './exit_codes.ts';

/** The option of verbs that work on a store directly. */
export const STORE = ['--store <place>', 'store file, or postgres://…', readStore, 'edgeproof.db'] as const;

/** The place of a store: a file, `sqlite:FILE` or `postgres://…`. */
export function readStore(text: string): string {
  const place = placeOf(text);
  if (place === '' || (/^[a-z]+:\/\//i.test(place) && !isPostgres(place)))
    throw new InvalidArgumentError('expected a file, sqlite:FILE or postgres://user@host/database.');
  return place;
}

/** The options of the place of the keys that seal its secrets. */
export const SEAL_KEY_FILE = [
  '--seal-key-file <file>',
  'keys of the secrets of the store; default: the store file with .key',
] as const;
export const SEAL_KEY_COMMAND = ['--seal-key-command <command>', 'command that prints these keys'] as const;

/** Works on an existing store, which an instance may serve; returns the exit code. */
export async function withStore(path: string, work: (store: Store) => Promise<void>): Promise<number> {
  let store: Store | null = null;
  try {
    if (!isPostgres(path) && !existsSync(path))
      throw new StoreError(
        `there is no store ${path}; name it with --store, or create it with \`edgeproof serve\``,
      );
    if (!isPostgres(path)) refuseEmptyFile(path);
    store = isPostgres(path) ? await openPostgresStore(path) : openSqliteStore(path);
    if ((await store.read((view) => view.setting(ACCOUNT_SETTING))) === null)
      throw new StoreError(
        `${storeName(path)} has no account yet; start \`edgeproof serve\` with it, which makes one`,
      );
    await work(store);
    return EXIT.ok;
  } finally {
    await store?.close();
  }
}
