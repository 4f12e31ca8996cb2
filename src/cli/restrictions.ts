import type { Command } from 'commander';
import { connected } from '../control/api/objects.ts';
import { ipRestrictions } from '../control/resources/ip_policies.ts';
import { StoreError } from '../control/store/port.ts';
import { textOrJson } from './reporter_option.ts';
import { STORE, withStore } from './with_store.ts';
import { stdout } from './output.ts';

/** Lists and lifts IP restrictions directly in the store, for an operator whom one of them locks out. */
export function register(command: Command): void {
  textOrJson(command.command('list'))
    .description('List IP restrictions')
    .option(...STORE)
    .action(async ({ store: place, json = false }: { store: string; json?: boolean }) => {
      process.exitCode = await withStore(place, async (store) => {
        const objects = await store.read((view) => view.all([ipRestrictions.kind]));
        const restrictions = objects.map(({ id, body }) => ({
          id,
          type: String(body['type']),
          enforced: body['enforced'] === true,
          ip_policy_ids: body['ip_policy_ids'] as readonly string[],
        }));
        if (json) stdout.write(`${JSON.stringify(restrictions, null, 2)}\n`);
        else for (const each of restrictions) stdout.write(lineOf(each));
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

function lineOf({
  id,
  type,
  enforced,
  ip_policy_ids: policies,
}: {
  readonly id: string;
  readonly type: string;
  readonly enforced: boolean;
  readonly ip_policy_ids: readonly string[];
}): string {
  return `${id}  ${type}  ${enforced ? 'enforced' : 'not enforced'}  ${policies.join(' ')}\n`;
}
