import type { Command, Option } from 'commander';
import { EXIT } from './exit_codes.ts';
import { exitOnClosedPipe } from './shutdown.ts';

/** The export of a verb's file: it adds its command to the program. */
export interface VerbFile {
  readonly register: (program: Command) => void;
}

/** Every verb: its line in the help, and its file, which is loaded only when the verb runs. */
const VERBS: Readonly<Record<string, { readonly message: string; readonly load: () => Promise<VerbFile> }>> =
  {
    dev: { message: 'run a local ingress on an edge file, reloaded on save', load: () => import('./dev.ts') },
    check: { message: 'check edge files and traffic policies', load: () => import('./check.ts') },
    test: { message: 'run scenario files: test cases for an edge', load: () => import('./test.ts') },
    cover: {
      message: 'report what scenario files leave untested, and suggest cases',
      load: () => import('./cover.ts'),
    },
    sim: { message: 'run a simulation in virtual time', load: () => import('./sim.ts') },
    bench: {
      message: 'measure the speed of a configuration and its parts',
      load: () => import('./bench.ts'),
    },
    replay: {
      message: 'decide the requests of a log again with a changed configuration',
      load: () => import('./replay.ts'),
    },
    record: { message: 'record whole exchanges, or convert logs', load: () => import('./record.ts') },
    init: {
      message: 'write a first edge, policy, scenarios and CI workflow',
      load: () => import('./init.ts'),
    },
    http: { message: 'run a traffic policy in front of a local port', load: () => import('./http.ts') },
    fmt: { message: 'format policies', load: () => import('./fmt.ts') },
    'explain-code': {
      message: 'explain the code of a finding or of an error response',
      load: () => import('./explain_code.ts'),
    },
    explain: {
      message: 'explain step by step what an edge does with a request',
      load: () => import('./explain.ts'),
    },
    eval: { message: 'evaluate an expression on a request', load: () => import('./eval.ts') },
    repl: { message: 'evaluate expressions interactively', load: () => import('./repl.ts') },
    serve: { message: 'serve the management API and its edge', load: () => import('./serve.ts') },
    keys: { message: 'make, list and revoke keys of the management API', load: () => import('./keys.ts') },
    export: {
      message: 'write the configuration of a running instance as an edge file',
      load: () => import('./export.ts'),
    },
    apply: { message: 'apply an edge file to a running instance', load: () => import('./apply.ts') },
    trust: { message: 'make this machine trust the local authority', load: () => import('./trust.ts') },
    cert: { message: 'issue a certificate of the local authority', load: () => import('./cert.ts') },
    webhook: { message: 'sign or verify a webhook', load: () => import('./webhook.ts') },
  };

/** Runs the command line and resolves with its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  process.stdout.once('error', exitOnClosedPipe);
  const [verb, ...rest] = args;
  // Editors and hooks run the checker on every save, so plain calls skip the option parser.
  if (verb === 'check' && rest.length > 0 && !rest.some((arg) => arg.startsWith('-'))) {
    return (await import('./check_files.ts')).check(rest, {});
  }
  const known = verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  const { Command, CommanderError, Help } = await import('commander');
  const help = new Help();
  const program = new Command('edgeproof')
    .description('A cloud edge in a box: test, benchmark and run edge configurations locally.')
    .exitOverride()
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .configureHelp({ optionDescription: (option) => help.optionDescription(withShownDefault(option)) });
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

/** The option without a default that would be shown as `[]`, `{}` or `undefined`. */
function withShownDefault(option: Option): Option {
  const value: unknown = option.defaultValue;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (!isEmpty && typeof value !== 'function') return option;
  return Object.assign(Object.create(option) as Option, { defaultValue: undefined });
}
