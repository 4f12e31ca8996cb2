import { type Command, InvalidArgumentError, Option } from 'commander';

const JSON_FLAG = ['--json', 'the same as `-r json`'] as const;

/** Adds `-r` with these names and, as its shorthand, `--json`; the last of them on the command line wins. */
export function reporterOption(
  command: Command,
  names: readonly string[],
  {
    usual = 'text',
    does = 'how to print the result',
  }: { readonly usual?: string; readonly does?: string } = {},
): Command {
  return command
    .addOption(new Option('-r, --reporter <name>', does).choices(names).default(usual))
    .option(...JSON_FLAG)
    .on('option:json', () => command.setOptionValue('reporter', 'json'));
}

/** Adds `-r` with `text` and `json` for verbs that only read whether `json` is set. */
export function textOrJson(command: Command): Command {
  return command
    .addOption(
      new Option('-r, --reporter <name>', 'how to print the result')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option(...JSON_FLAG)
    .on('option:reporter', (name: string) => command.setOptionValue('json', name === 'json'));
}

/** Adds `-r name[=path]`, which can be repeated, and its shorthand `--json`. */
export function reportersOption<Asked extends { readonly path: string | null }>(
  command: Command,
  names: readonly string[],
  add: (text: string, before: readonly Asked[]) => readonly Asked[],
): Command {
  const addAnother = (text: string, before: readonly Asked[]): readonly Asked[] => {
    const all = add(text, before);
    const path = all.at(-1)?.path ?? null;
    if (path !== null && before.some((each) => each.path === path))
      throw new InvalidArgumentError(`${path} already has another report; name a file for each.`);
    return all;
  };
  return command
    .option('-r, --reporter <name[=path]>', `${names.join(', ')}; can be repeated`, addAnother, [])
    .option(...JSON_FLAG)
    .on('option:json', () =>
      command.setOptionValue('reporter', add('json', command.getOptionValue('reporter') as readonly Asked[])),
    );
}
