import { Command, Help, Option } from 'commander';
import { EXIT_CODES } from './exit_codes.ts';
import type { OptionGroups } from './option_groups.ts';
import { stderr, stdout } from './output.ts';
import type { VerbRow } from './verb_row.ts';
import { VERBS, VERB_NAMES, type VerbName } from './verbs.ts';

/** The command line with these verbs whole; the others are only names for the help and for suggestions. */
export async function programOf(whole: readonly VerbName[]): Promise<Command> {
  const help = new Help();
  const program = new Command('edgeproof')
    .description('A cloud edge in a box: test, benchmark and run edge configurations locally.')
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('edgeproof --help lists the commands')
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .configureHelp({ optionDescription: (option) => help.optionDescription(withShownDefault(option)) })
    .addHelpText('after', PROGRAM_EPILOGUE);
  for (const name of VERB_NAMES) {
    const { group, does, examples, options, load }: VerbRow = VERBS[name];
    const command = program.command(name).helpGroup(`${group}:`);
    if (whole.includes(name)) {
      command
        .description(does[0]!.toUpperCase() + does.slice(1))
        .addHelpText('after', shown(examples))
        .showHelpAfterError(`edgeproof ${name} --help shows its arguments, options and examples`);
      (await load()).register(command);
      for (const part of command.commands)
        part.showHelpAfterError(
          `edgeproof ${name} ${part.name()} --help shows its arguments, options and examples`,
        );
      if (options !== undefined) groupOptions(command, options);
    } else command.description(does).allowUnknownOption();
  }
  return program;
}

const PROGRAM_EPILOGUE = `
Exit codes:
${EXIT_CODES.map(([code, cause]) => `  ${String(code).padStart(3)}  ${cause}`).join('\n')}

edgeproof <command> --help shows options and examples.`;

/** Examples, one a line, with their remarks in a column. */
function shown(examples: readonly (readonly [line: string, remark?: string])[]): string {
  const width = Math.min(60, Math.max(...examples.map(([line]) => line.length)));
  const lines = examples.map(([line, remark]) =>
    remark === undefined ? `  edgeproof ${line}` : `  edgeproof ${line.padEnd(width)}  # ${remark}`,
  );
  return `\nExamples:\n${lines.join('\n')}`;
}

/** The option without a default that its description states, or that would be shown as `[]` or `{}`. */
function withShownDefault(option: Option): Option {
  const value: unknown = option.defaultValue;
  const isSaid = /; default: /.test(option.description);
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (!isSaid && !isEmpty && typeof value !== 'function') return option;
  return Object.assign(Object.create(option) as Option, { defaultValue: undefined });
}

/** Puts the options of a registered command under these headings, in their order. */
function groupOptions(command: Command, groups: OptionGroups): void {
  const places = new Map(
    groups.flatMap(([heading, names]) => names.map((name) => [name as string, heading] as const)),
  );
  const order = [...places.keys()];
  const placeOf = ({ long }: Option): number => order.indexOf(long ?? '');
  const options = command.options as Option[];
  for (const option of options) {
    const heading = places.get(option.long ?? '');
    if (heading !== undefined) option.helpGroup(`${heading}:`);
  }
  options.sort((a, b) => placeOf(a) - placeOf(b));
  command.addHelpOption(new Option('-h, --help', 'display help for command').helpGroup('Help:'));
}
