import type { Command } from 'commander';
import { keyFileOf } from '../control/sealing_keys.ts';
import { copyStore } from '../control/store_copy.ts';
import { isPostgres, storeName } from '../control/store/postgres.ts';
import { counted } from '../diagnostics/message_text.ts';
import { readStore } from './with_store.ts';
import { stdout } from './output.ts';

/** Moves a store between a file and a database that several nodes share. */
export function register(command: Command): void {
  command
    .command('copy')
    .description('Copy a store to a new file, or to an empty database or schema of PostgreSQL')
    .argument('<from>', 'sqlite:FILE or postgres://…; an instance may serve it', readStore)
    .argument('<to>', 'sqlite:FILE that does not exist, or postgres://… that is empty', readStore)
    .action(async (...[source, target]: readonly [string, string]) => {
      const { objects, records } = await copyStore(source, target);
      stdout.write(
        `copied ${counted(objects, 'object')} and ${counted(records, 'audit record')} to ${storeName(target)}\n`,
      );
      const key = isPostgres(source) ? 'the key of the nodes' : keyFileOf(source);
      stdout.write(
        isPostgres(target)
          ? `its secrets are sealed with ${key}: start nodes with it, by --seal-key-file\n`
          : `its secrets are sealed with ${key}: put it into ${keyFileOf(target)}\n`,
      );
    });
}
