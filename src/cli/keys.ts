import type { Command } from 'commander';
import { makeKey } from '../control/api/account.ts';
import { secretText } from '../crypto/random.ts';
import { StoreError } from '../control/store/port.ts';
import { newIds } from '../events/identifiers.ts';
import { textOrJson } from './reporter_option.ts';
import { STORE, withStore } from './with_store.ts';
import { stderr, stdout } from './output.ts';

/** Makes and revokes keys of the management API directly in the store, for an operator who has no key yet. */
export function register(command: Command): void {
  command
    .command('create')
    .description('Create an admin key; it is printed only once')
    .option('--description <text>', 'purpose or user of the key', 'Made on the command line.')
    .option(...STORE)
    .action(async (options: { store: string; description: string }) => {
      process.exitCode = await withStore(options.store, async (store) => {
        const making = { newId: newIds(Date.now), secretText, nowMs: Date.now };
        const { id, token } = await makeKey(store, making, options.description);
        stdout.write(`${token}\n`);
        stderr.write(`made ${id}\n`);
      });
    });
  textOrJson(command.command('list'))
    .description('List keys, newest first')
    .option(...STORE)
    .action(async ({ store: place, json = false }: { store: string; json?: boolean }) => {
      process.exitCode = await withStore(place, async (store) => {
        const objects = await store.read((view) => view.all(['api_key']));
        const keys = objects.toReversed().map(({ id, body }) => ({
          id,
          created_at: body['created_at'],
          owner_id: body['owner_id'],
          description: body['description'] ?? '',
        }));
        if (json) stdout.write(`${JSON.stringify(keys, null, 2)}\n`);
        else for (const key of keys) stdout.write(`${Object.values(key).join('  ')}\n`);
      });
    });
  command
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
        stdout.write(`revoked ${id}\n`);
      });
    });
}
