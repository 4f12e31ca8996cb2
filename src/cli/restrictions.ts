import type { Command } from 'commander';
import { connected } from '../control/api/objects.ts';
import { ipRestrictions } from '../control/resources/ip_policies.ts';
import { StoreError } from '../control/store/port.ts';
import { STORE, withStore } from './with_store.ts';
import { stdout } from './output.ts';

/** Lists and lifts IP restrictions directly in the store, for an operator whom one of them locks out. */
export function register(command: Command): void {
  command
    .command('list')
    .description('List IP restrictions')
    .option(...STORE)
    .action(async (options: { store: string }) => {
      process.exitCode = await withStore(options.store, async (store) => {
        for (const { id, body } of await store.read((view) => view.all([ipRestrictions.kind]))) {
          const policies = body['ip_policy_ids'] as readonly string[];
          const state = body['enforced'] === true ? 'enforced' : 'not enforced';
          stdout.write(`${id}  ${String(body['type'])}  ${state}  ${policies.join(' ')}\n`);
        }
      });
    });
  command
    .command('lift')
    .description('Stop enforcing a restriction; those of endpoints are lifted at the next start')
    .argument('<id>', 'id of the restriction, ipx_…')
    .option(...STORE)
    .action(async (id: string, options: { store: string }) => {
      process.exitCode = await withStore(options.store, async (store) => {
        await store.write(async (transaction) => {
          const found = await transaction.get(id);
          if (found?.kind !== ipRestrictions.kind) throw new StoreError(`there is no restriction ${id}`);
          await transaction.replace(connected(ipRestrictions, id, null, { ...found.body, enforced: false }));
        });
        stdout.write(`lifted ${id}\n`);
      });
    });
}
