import { EXIT } from './exit_codes.ts';
import type { VerbFile } from './verb_row.ts';
import { VERBS, VERB_NAMES, isVerb } from './verbs.ts';
import { stderr, stdout, watchOutput, written } from './output.ts';
import { hasRunProgram, isProgramUnfinished } from '../project_files/programs.ts';

/** Runs the command line and resolves with its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  try {
    return await runVerb(args);
  } catch (error) {
    const { reportFailure } = await import('./failure.ts');
    return reportFailure(error);
  }
}

async function runVerb(args: readonly string[]): Promise<number> {
  // Programs of the user write to the streams of Node.
  if (args.some((arg) => /\.m?[jt]s$/.test(arg))) watchOutput();
  const [verb = '', ...rest] = args;
  if (rest.length === 0 && (verb === '--version' || verb === '-V')) {
    stdout.write(`${(await import('./version.ts')).packageVersion()}\n`);
    return EXIT.ok;
  }
  // Editors and hooks run the checker on every save, so plain calls skip the option parser.
  if (verb === 'check' && rest.length > 0 && !rest.some((arg) => arg.startsWith('-'))) {
    return (await import('./check_files.ts')).check(rest, {});
  }
  if (verb === 'help' && rest[0] !== undefined && !isVerb(rest[0]) && !/^(?:-|help$)/.test(rest[0])) {
    const { unknownVerb } = await import('./wrong_verb.ts');
    stderr.write(`${unknownVerb(rest[0])}\n`);
    return EXIT.usage;
  }
  if (!isVerb(verb)) {
    const { meantBy } = await import('./wrong_verb.ts');
    const meant = meantBy(args);
    if (meant !== null) {
      stderr.write(`${meant}\n`);
      return EXIT.usage;
    }
  }
  const { programOf } = await import('./program.ts');
  const { CommanderError } = await import('commander');
  const readsAll = isVerb(verb) && ((await VERBS[verb].load()) as VerbFile).readsAllVerbs === true;
  // `help backup` shows the arguments of that verb.
  const [named = ''] = verb === 'help' ? rest : args;
  const program = await programOf(readsAll ? VERB_NAMES : isVerb(named) ? [named] : []);
  if (!isVerb(verb)) program.version((await import('./version.ts')).packageVersion(), '-V, --version');
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    throw error;
  }
}

/** A process that a program of a configuration has ended fails as for any file that cannot be read. */
export function failForUnfinishedPrograms(): void {
  process.once('exit', () => {
    if (isProgramUnfinished()) process.exitCode = EXIT.usage;
  });
}

/** Ends the process when its output is written, if something that a program has left would keep it alive. */
export async function endAfterPrograms(): Promise<void> {
  if (!hasRunProgram()) return;
  await written();
  process.exit();
}
