import type { Command } from 'commander';
import { restore } from '../control/backup.ts';
import { EXIT } from './exit_codes.ts';
import { readStore } from './with_store.ts';
import { stdout } from './output.ts';

/** Makes a store of a backup. */
export function register(command: Command): void {
  command
    .argument('<file>', 'file of the backup')
    .option('--store <file>', 'store file; must not exist', readStore, 'edgeproof.db')
    .option('--key <file>', 'file with the key of the secrets; default: <file>.key')
    .action(async (file: string, { store, key }: { store: string; key?: string }) => {
      process.exitCode = await printWritten(() => restore(file, store, key));
    });
}

/** Prints the files that were written; resolves with the exit code. */
export async function printWritten(write: () => Promise<readonly string[]>): Promise<number> {
  for (const file of await write()) stdout.write(`wrote ${file}\n`);
  return EXIT.ok;
}
