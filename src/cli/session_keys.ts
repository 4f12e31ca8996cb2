import type { Command } from 'commander';
import { MOST_SESSION_KEYS, rotateSessionKeys } from '../control/sealed_store.ts';
import { sealingKeys } from '../control/sealing_keys.ts';
import { isPostgres } from '../control/store/postgres.ts';
import { sealingKeysIn } from './serve_files.ts';
import { SEAL_KEY_COMMAND, SEAL_KEY_FILE, STORE, withStore } from './with_store.ts';
import { stdout } from './output.ts';

interface Options {
  readonly store: string;
  readonly sealKeyFile?: string;
  readonly sealKeyCommand?: string;
  readonly endSessions?: true;
}

/** Replaces the key that seals login sessions, directly in the store. */
export function register(command: Command): void {
  command
    .command('rotate')
    .description(
      `Seal new sessions with a new key; the ${MOST_SESSION_KEYS - 1} keys before it still open sessions`,
    )
    .option('--end-sessions', 'remove the earlier keys, so that all users have to log in again')
    .option(...STORE)
    .option(...SEAL_KEY_FILE)
    .option(...SEAL_KEY_COMMAND)
    .action(async (options: Options) => {
      const { store: place } = options;
      process.exitCode = await withStore(place, async (store) => {
        const sealing = await sealingKeys(place, false, sealingKeysIn(options));
        const count = await rotateSessionKeys(store, sealing, options.endSessions === true);
        const opening = count === 1 ? 'it alone opens them' : `${count} keys open them`;
        stdout.write(`new sessions are sealed with a new key; ${opening}\n`);
        if (!isPostgres(place))
          stdout.write('if the store is served, send SIGHUP to `edgeproof serve`, which reads it\n');
      });
    });
}
