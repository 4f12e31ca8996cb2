import { Argument, type Command, type Option } from 'commander';
import { type Offered, type OfferedOption, SCRIPTS } from './shell_scripts.ts';
import { stdout } from './output.ts';

/** The scripts name every verb and option, so all verbs are registered before this one runs. */
export const readsAllVerbs = true;

export function register(command: Command): void {
  const shells = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', '\nFor this session: source <(edgeproof completion bash)')
    .action((shell: keyof typeof SCRIPTS) => {
      stdout.write(SCRIPTS[shell](offered(command.parent!)));
    });
}

/** All commands below a command, with what can be written after each; the first is the command itself. */
function offered(program: Command, path: readonly string[] = []): readonly Offered[] {
  const help = program.createHelp();
  const commands = help.visibleCommands(program).filter((each) => each.name() !== 'help');
  const own: Offered = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(program).map(offeredOption),
    choices: program.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  };
  return [own, ...commands.flatMap((each) => offered(each, [...path, each.name()]))];
}

function offeredOption({
  short,
  long,
  description,
  required,
  optional,
  argChoices = [],
}: Option): OfferedOption {
  const flags = [short, long].filter((flag) => flag !== undefined);
  return { flags, description, takesValue: required || optional, choices: argChoices };
}
