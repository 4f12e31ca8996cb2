import type { Command, Option } from 'commander';
import { EXIT } from './exit_codes.ts';
import { exitOnClosedPipe } from './shutdown.ts';

/** The export of a verb's file: it adds arguments, options and action to its command. */
export interface VerbFile {
  readonly register: (command: Command) => void;
  /** Whether it describes the other verbs, so that they have to be registered, too. */
  readonly readsAllVerbs?: true;
}

/** The file of each verb, which is loaded only when the verb runs. */
const FILES = {
  dev: () => import('./dev.ts'),
  check: () => import('./check.ts'),
  test: () => import('./test.ts'),
  cover: () => import('./cover.ts'),
  diff: () => import('./diff.ts'),
  prove: () => import('./prove.ts'),
  'verify-proof': () => import('./verify_proof.ts'),
  classes: () => import('./classes.ts'),
  mutate: () => import('./mutate.ts'),
  sim: () => import('./sim.ts'),
  bench: () => import('./bench.ts'),
  replay: () => import('./replay.ts'),
  record: () => import('./record.ts'),
  init: () => import('./init.ts'),
  http: () => import('./http.ts'),
  fmt: () => import('./fmt.ts'),
  'explain-code': () => import('./explain_code.ts'),
  explain: () => import('./explain.ts'),
  eval: () => import('./eval.ts'),
  repl: () => import('./repl.ts'),
  serve: () => import('./serve.ts'),
  keys: () => import('./keys.ts'),
  restrictions: () => import('./restrictions.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  export: () => import('./export.ts'),
  apply: () => import('./apply.ts'),
  trust: () => import('./trust.ts'),
  cert: () => import('./cert.ts'),
  webhook: () => import('./webhook.ts'),
  playground: () => import('./playground.ts'),
  completion: () => import('./completion.ts'),
} satisfies Readonly<Record<string, () => Promise<VerbFile>>>;

type Verb = keyof typeof FILES;

/** What each verb does, for the help. */
const MESSAGES: Readonly<Record<Verb, string>> = {
  dev: 'run a local ingress on an edge file, reloaded on save',
  check: 'check edge files and traffic policies; exit code 3 if one has errors',
  test: 'run scenario files: test cases for an edge',
  cover: 'run scenario files and report what they leave untested in their edges, and why',
  diff: 'compare what two edge files do with every request, and show a request for each difference',
  prove: 'prove statements about every request of an edge file, or show a request that refutes them',
  'verify-proof': 'verify certificates of proofs with the engine itself, independently of the analysis',
  mutate: 'plant mistakes in an edge and report those that no case of a scenario file notices',
  classes: 'list the classes of requests that an edge file distinguishes, with their outcomes',
  sim: 'run the simulation of a scenario file in virtual time',
  bench: 'measure the speed of an edge file, a policy or an expression, and the cost of its parts',
  replay: 'replay the requests of a log and report which ones a changed configuration treats differently',
  record: 'run a local ingress that records whole exchanges, or convert logs with --from',
  init: 'write a first edge, policy, scenarios and a CI workflow to this folder',
  http: 'run a traffic policy in front of a local port, without an edge file',
  fmt: 'format policies; comments are kept',
  'explain-code': 'explain the code of a finding or of an error response, with an example',
  explain: 'explain step by step what an edge does with a request, with reasons and source lines',
  eval: 'evaluate an expression, or a template with ${…}, on a request',
  repl: 'evaluate expressions interactively',
  serve: 'serve the management API and the edge that it configures',
  keys: 'make, list and revoke keys of the management API',
  restrictions: 'list and lift IP restrictions that lock out their operator',
  backup: 'copy the store of an instance, which may be running, with the key of its secrets',
  restore: 'make a store of a backup',
  export: 'write the configuration of a running instance as an edge file (in JSON)',
  apply: 'apply an edge file to a running instance',
  trust: 'make this machine trust the local certificate authority, for HTTPS in `dev`',
  cert: 'issue a certificate of the local authority, for a host or for a mutual TLS client',
  webhook: 'sign webhooks as their providers do, and verify them',
  playground: 'serve a page that checks, decides and explains in the browser',
  completion: 'print a script that completes commands and options in bash, zsh, fish or PowerShell',
};

/** Runs the command line and resolves with its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  process.stdout.once('error', exitOnClosedPipe);
  try {
    return await runVerb(args);
  } catch (error) {
    const { FileError } = await import('../project_files/load_config.ts');
    if (error instanceof FileError) {
      process.stderr.write(`${error.message}\n`);
      return EXIT.usage;
    }
    process.stderr.write(
      `a bug in edgeproof: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return EXIT.internal;
  }
}

async function runVerb(args: readonly string[]): Promise<number> {
  const [verb = '', ...rest] = args;
  // Editors and hooks run the checker on every save, so plain calls skip the option parser.
  if (verb === 'check' && rest.length > 0 && !rest.some((arg) => arg.startsWith('-'))) {
    return (await import('./check_files.ts')).check(rest, {});
  }
  const { Command, CommanderError, Help } = await import('commander');
  const help = new Help();
  const program = new Command('edgeproof')
    .description('A cloud edge in a box: test, benchmark and run edge configurations locally.')
    .exitOverride()
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .configureHelp({ optionDescription: (option) => help.optionDescription(withShownDefault(option)) });
  if (isVerb(verb)) {
    const { readsAllVerbs }: VerbFile = await FILES[verb]();
    for (const name of readsAllVerbs ? (Object.keys(MESSAGES) as Verb[]) : [verb]) {
      const message = MESSAGES[name];
      const command = program.command(name).description(message[0]!.toUpperCase() + message.slice(1));
      (await FILES[name]()).register(command);
    }
  } else {
    program.version((await import('./version.ts')).packageVersion(), '-V, --version');
    for (const [name, message] of Object.entries(MESSAGES))
      program.command(name).description(message).allowUnknownOption();
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    throw error;
  }
}

function isVerb(text: string): text is Verb {
  return Object.hasOwn(FILES, text);
}

/** The option without a default that would be shown as `[]`, `{}` or `undefined`. */
function withShownDefault(option: Option): Option {
  const value: unknown = option.defaultValue;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (!isEmpty && typeof value !== 'function') return option;
  return Object.assign(Object.create(option) as Option, { defaultValue: undefined });
}
