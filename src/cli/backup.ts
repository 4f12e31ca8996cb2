import type { Command } from 'commander';
import { backUp } from '../control/backup.ts';
import { printWritten } from './restore.ts';
import { readStore } from './with_store.ts';

/** Copies a store while its instance may be running. */
export function register(command: Command): void {
  command
    .argument('<file>', 'file of the backup; must not exist')
    .option('--store <file>', 'store file', readStore, 'edgeproof.db')
    .option('--no-key', 'leave out the key of the secrets; `restore` needs it')
    .action(async (file: string, { store, key }: { store: string; key: boolean }) => {
      process.exitCode = await printWritten(async () => backUp(store, file, { withKey: key }));
    });
}
