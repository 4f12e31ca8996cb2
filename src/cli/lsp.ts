import { type Command, Option } from 'commander';
import { startChecker } from './check_thread.ts';
import { EXIT } from './exit_codes.ts';
import { watchOutput } from './output.ts';
import { packageVersion } from './version.ts';

/** `edgeproof lsp`: the checker, the reference and the formatter for editors, over standard input and output. */
export function register(command: Command): void {
  command
    // Editors and their plugins add it; there is no other way to speak.
    .option('--stdio', 'speak over standard input and output; the default')
    // VS Code's client adds its process, whose end the protocol notices by itself.
    .addOption(new Option('--clientProcessId <pid>').hideHelp())
    .action(async () => {
      watchOutput();
      const { serveLsp } = await import('../lsp/server.ts');
      const isShutDown = await serveLsp({ version: packageVersion(), startChecker });
      // At once: threads may be busy for long. The protocol names the code for an editor that has gone.
      process.exit(isShutDown ? EXIT.ok : EXIT.failed);
    });
}
