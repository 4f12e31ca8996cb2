// Runs the verbs of policies as the command line does: `node verb.ts fmt policy.yaml`.
import { Command } from 'commander';
import { register as registerCheck } from '../../src/cli/check.ts';
import { registerExplainCode } from '../../src/cli/explain_code.ts';
import { register as registerHttp } from '../../src/cli/http.ts';
import { registerFmt } from '../../src/cli/fmt.ts';

const program = new Command('edgeproof');
registerFmt(program);
registerCheck(program);
registerHttp(program);
registerExplainCode(program);
await program.parseAsync(process.argv.slice(2), { from: 'user' });
