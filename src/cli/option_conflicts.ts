import type { Command } from 'commander';
import { FileError } from '../project_files/load_config.ts';

export type OptionName = `--${string}`;

/** Which of these options the command line has; those with a default or from the environment are not counted. */
function givenOf(command: Command, names: readonly string[]): string | undefined {
  return command.options.find(
    (option) =>
      names.includes(option.long ?? '') && command.getOptionValueSource(option.attributeName()) === 'cli',
  )?.long;
}

/** Throws FileError if one of these options is given, which `beside` would make without effect. */
export function refuseBeside(command: Command, beside: string, names: readonly OptionName[]): void {
  const given = givenOf(command, names);
  if (given !== undefined) throw new FileError(`${beside} and ${given} exclude each other: leave one out`);
}

/** As `refuseBeside`, for all options except these. */
export function refuseAllBeside(command: Command, beside: OptionName, except: readonly OptionName[]): void {
  const names = command.options.flatMap(({ long }) => (long === undefined ? [] : [long as OptionName]));
  const others = names.filter((name) => name !== beside && !except.includes(name));
  refuseBeside(command, beside, others);
}

/** Throws FileError if one of these options is given without the one that it belongs to. */
export function refuseAlone(
  command: Command,
  names: readonly OptionName[],
  { only, add }: { readonly only: string; readonly add: string },
): void {
  const given = givenOf(command, names);
  if (given !== undefined) throw new FileError(`${given} is only for ${only}: add ${add}, or leave it out`);
}
