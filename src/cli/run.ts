import type { Command } from 'commander';
import { EXIT } from './exit_codes.ts';

/** A verb's file exports this; it adds its command to the program. */
export interface VerbFile {
  readonly register: (program: Command) => void;
}

/** Every verb: what help says of it, and the file that is loaded only when it runs. */
const VERBS: Readonly<Record<string, { readonly says: string; readonly load: () => Promise<VerbFile> }>> = {
  dev: { says: 'run a local ingress on an edge file', load: () => import('./dev.ts') },
  check: { says: 'check edge files', load: () => import('./check.ts') },
  test: { says: 'run scenario files', load: () => import('./test.ts') },
  cover: { says: 'say what scenario files leave untested', load: () => import('./cover.ts') },
  sim: { says: 'run a simulation over virtual time', load: () => import('./sim.ts') },
  bench: { says: 'measure how fast a configuration decides', load: () => import('./bench.ts') },
  replay: { says: 'decide a log anew and compare', load: () => import('./replay.ts') },
  record: { says: 'record exchanges, or convert recordings', load: () => import('./record.ts') },
  init: { says: 'write a first edge, scenarios and a workflow', load: () => import('./init.ts') },
  http: { says: 'run a traffic policy in front of a local port', load: () => import('./http.ts') },
  fmt: { says: 'write policies in their canonical form', load: () => import('./fmt.ts') },
  'explain-code': {
    says: 'explain a code of a finding or an error',
    load: () => import('./explain_code.ts'),
  },
  explain: { says: 'explain what an edge does with one request', load: () => import('./explain.ts') },
  eval: { says: 'evaluate one expression', load: () => import('./eval.ts') },
  repl: { says: 'try expressions line by line', load: () => import('./repl.ts') },
  serve: { says: 'run the management API and the edge that it configures', load: () => import('./serve.ts') },
  keys: { says: 'make, list and revoke keys of the management API', load: () => import('./keys.ts') },
  export: { says: 'write a running configuration as an edge file', load: () => import('./export.ts') },
  apply: { says: 'bring a running configuration to an edge file', load: () => import('./apply.ts') },
  trust: { says: 'make this machine trust the local authority', load: () => import('./trust.ts') },
  cert: { says: 'make a certificate of the local authority', load: () => import('./cert.ts') },
  webhook: { says: 'sign or verify a webhook', load: () => import('./webhook.ts') },
};

/** Whoever reads along may have read enough, as `| head` has: that is no bug, and there is nobody left to tell. */
function stopWriting(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.runtime);
}

/** Runs the command line and gives its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  process.stdout.once('error', stopWriting);
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
    for (const [name, { says }] of Object.entries(VERBS))
      program.command(name).description(says).allowUnknownOption();
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
