import type { Command } from 'commander';
import { EXIT } from './exit_codes.ts';
import { endWithReader } from './shutdown.ts';

/** A verb's file exports this; it adds its command to the program. */
export interface VerbFile {
  readonly register: (program: Command) => void;
}

/** Every verb: what help says of it, and the file that is loaded only when it runs. */
const VERBS: Readonly<Record<string, { readonly message: string; readonly load: () => Promise<VerbFile> }>> =
  {
    dev: { message: 'run a local ingress on an edge file', load: () => import('./dev.ts') },
    check: { message: 'check edge files', load: () => import('./check.ts') },
    test: { message: 'run scenario files', load: () => import('./test.ts') },
    cover: { message: 'report what scenario files leave untested', load: () => import('./cover.ts') },
    sim: { message: 'run a simulation over virtual time', load: () => import('./sim.ts') },
    bench: { message: 'measure the speed of a configuration', load: () => import('./bench.ts') },
    replay: { message: 'decide the requests of a log again and compare', load: () => import('./replay.ts') },
    record: { message: 'record exchanges, or convert recordings', load: () => import('./record.ts') },
    init: { message: 'write a first edge, scenarios and a workflow', load: () => import('./init.ts') },
    http: { message: 'run a traffic policy in front of a local port', load: () => import('./http.ts') },
    fmt: { message: 'write policies in their canonical form', load: () => import('./fmt.ts') },
    'explain-code': {
      message: 'explain the code of a finding or an error',
      load: () => import('./explain_code.ts'),
    },
    explain: { message: 'explain what an edge does with one request', load: () => import('./explain.ts') },
    eval: { message: 'evaluate one expression', load: () => import('./eval.ts') },
    repl: { message: 'evaluate expressions interactively', load: () => import('./repl.ts') },
    serve: { message: 'run the management API and its edge', load: () => import('./serve.ts') },
    keys: { message: 'make, list and revoke keys of the management API', load: () => import('./keys.ts') },
    export: { message: 'write a running configuration as an edge file', load: () => import('./export.ts') },
    apply: { message: 'apply an edge file to a running configuration', load: () => import('./apply.ts') },
    trust: { message: 'make this machine trust the local authority', load: () => import('./trust.ts') },
    cert: { message: 'make a certificate of the local authority', load: () => import('./cert.ts') },
    webhook: { message: 'sign or verify a webhook', load: () => import('./webhook.ts') },
  };

/** Runs the command line and gives its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  process.stdout.once('error', endWithReader);
  const [verb, ...rest] = args;
  // Editors and hooks call the checker on every save: plain calls do not wait for the option parser.
  if (verb === 'check' && rest.length > 0 && !rest.some((arg) => arg.startsWith('-'))) {
    return (await import('./check_files.ts')).check(rest, {});
  }
  const known = verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  const { Command, CommanderError } = await import('commander');
  const program = new Command('edgeproof')
    .description('A cloud edge in a box: test, benchmark and run edge configurations locally.')
    .exitOverride()
    .showSuggestionAfterError()
    .enablePositionalOptions();
  if (known !== undefined) {
    (await known.load()).register(program);
  } else {
    program.version((await import('./version.ts')).packageVersion(), '-V, --version');
    for (const [name, { message }] of Object.entries(VERBS))
      program.command(name).description(message).allowUnknownOption();
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    process.stderr.write(
      `a bug in edgeproof: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return EXIT.internal;
  }
}
