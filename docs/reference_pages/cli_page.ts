import type { Command } from 'commander';
import { EXIT_CODES } from '../../src/cli/exit_codes.ts';
import { programOf } from '../../src/cli/program.ts';
import type { VerbRow } from '../../src/cli/verb_row.ts';
import { VERBS, VERB_NAMES, type VerbName } from '../../src/cli/verbs.ts';
import { code, fenced, page, part, sentence, table } from './markdown.ts';

/** The reference of the command line, from its own table of verbs. */
export async function cliPage(): Promise<string> {
  const program = await programOf(VERB_NAMES);
  const commands = new Map(program.commands.map((command) => [command.name(), command]));
  const groups = [...new Set(Object.values(VERBS).map(({ group }) => group))];
  return page(
    '# Commands and options',
    '<!-- Generated from the table of verbs by `npm run generate`. Do not edit. -->',
    '`edgeproof --help` and `edgeproof COMMAND --help` print the same. [Command line](../cli.md) explains what commands have in common.',
    ...groups.map((group) =>
      part(
        `## ${group}`,
        ...VERB_NAMES.filter((name) => VERBS[name].group === group).map((name) =>
          verb(commands.get(name)!, name),
        ),
      ),
    ),
    '## Exit codes',
    table(
      ['Code', 'Cause'],
      EXIT_CODES.map(([number, cause]) => [String(number), cause]),
    ),
  );
}

function verb(command: Command, name: VerbName): string {
  const { does, examples }: VerbRow = VERBS[name];
  const lines = examples.map(([line, remark]) =>
    remark === undefined ? `edgeproof ${line}` : `edgeproof ${line}  # ${remark}`,
  );
  return part(
    `### ${code(name)}`,
    sentence(does),
    usage(command, `edgeproof ${name}`),
    fenced('sh', lines.join('\n')),
    ...command.commands
      .filter((each) => each.name() !== 'help')
      .map((each) =>
        part(
          `#### ${code(`${name} ${each.name()}`)}`,
          sentence(each.description()),
          usage(each, `edgeproof ${name} ${each.name()}`),
        ),
      ),
  );
}

/** The line of use, arguments and options of a command. */
function usage(command: Command, path: string): string {
  const help = command.createHelp();
  const parameters = command.registeredArguments.map((argument) => {
    const shown = argument.variadic ? `${argument.name()}…` : argument.name();
    return [code(argument.required ? `<${shown}>` : `[${shown}]`), sentence(argument.description)];
  });
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
  const groups = Map.groupBy(options, ({ helpGroupHeading: heading = '' }) => heading);
  return part(
    fenced('text', `${path} ${command.usage()}`),
    table(['Argument', 'Meaning'], parameters),
    ...[...groups].map(([heading, own]) =>
      part(
        ...(heading === '' ? [] : [`**${heading}**`]),
        table(
          ['Option', 'Meaning'],
          own.map((option) => [code(option.flags), sentence(help.optionDescription(option))]),
        ),
      ),
    ),
  );
}
