import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { makeKey } from '../control/api/account.ts';
import { secretText } from '../crypto/random.ts';
import { type Store, StoreError } from '../control/store/port.ts';
import { openSqliteStore } from '../control/store/sqlite.ts';
import { EXIT } from './exit_codes.ts';
import { newIds } from '../control/management.ts';

const STORE = ['--store <file>', 'store file', 'edgeproof.db'] as const;

/** Makes and revokes keys of the management API directly in the store, for an operator who has no key yet. */
export function register(program: Command): void {
  const keys = program.command('keys').description('Make, list and revoke keys of the management API');
  keys
    .command('create')
    .description('Make an admin key; it is printed only once')
    .option('--description <text>', 'purpose or user of the key', 'Made on the command line.')
    .option(...STORE)
    .action(async (options: { store: string; description: string }) => {
      process.exitCode = await withStore(options.store, async (store) => {
        const making = { newId: newIds(Date.now), secretText, nowMs: Date.now };
        const { id, token } = await makeKey(store, making, options.description);
        process.stdout.write(`${token}\n`);
        process.stderr.write(`made ${id}\n`);
      });
    });
  keys
    .command('list')
    .description('List keys, newest first')
    .option(...STORE)
    .action(async (options: { store: string }) => {
      process.exitCode = await withStore(options.store, async (store) => {
        const objects = await store.read((view) => view.all(['api_key']));
        for (const { id, body } of objects.toReversed()) {
          const line = [id, body['created_at'], body['owner_id'], body['description'] ?? ''];
          process.stdout.write(`${line.join('  ')}\n`);
        }
      });
    });
  keys
    .command('revoke')
    .description('Revoke a key')
    .argument('<id>', 'id of the key, ak_…')
    .option(...STORE)
    .action(async (id: string, options: { store: string }) => {
      process.exitCode = await withStore(options.store, async (store) => {
        await store.write(async (transaction) => {
          const key = await transaction.get(id);
          if (key?.kind !== 'api_key') throw new StoreError(`there is no key ${id}`);
          await transaction.remove(id);
        });
        process.stdout.write(`revoked ${id}\n`);
      });
    });
}

async function withStore(path: string, work: (store: Store) => Promise<void>): Promise<number> {
  let store: Store | null = null;
  try {
    if (!existsSync(path)) throw new StoreError(`there is no store ${path}; \`edgeproof serve\` creates it`);
    store = openSqliteStore(path);
    await work(store);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.usage;
  } finally {
    await store?.close();
  }
}
