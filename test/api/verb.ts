import { Command } from 'commander';
import { register as registerKeys } from '../../src/cli/keys.ts';
import { register as registerServe } from '../../src/cli/serve.ts';

/** Runs the verbs of the management API as the command does. */
const program = new Command();
registerServe(program);
registerKeys(program);
await program.parseAsync();
