import { Command } from 'commander';
import { register as registerEval } from '../../src/cli/eval.ts';
import { register as registerRepl } from '../../src/cli/repl.ts';

/** The two verbs as a program of their own, for tests that run it. */
const program = new Command('edgeproof');
registerEval(program);
registerRepl(program);
await program.parseAsync(process.argv.slice(2), { from: 'user' });
