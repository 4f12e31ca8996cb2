import type { Command } from 'commander';
import { FileError } from '../project_files/load_config.ts';

export type OptionName = `--${string}`;

/** The first of these options that the command line has; defaults and the environment do not count. */
export function firstGiven(command: Command, names: readonly string[]): string | undefined {
  return command.options.find(
    (option) =>
      names.includes(option.long ?? '') && command.getOptionValueSource(option.attributeName()) === 'cli',
  )?.long;
}

/** Throws FileError if one of these options is given, which `beside` would make without effect. */
export function refuseBeside(command: Command, beside: string, names: readonly OptionName[]): void {
  const given = firstGiven(command, names);
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
  const given = firstGiven(command, names);
  if (given !== undefined) throw new FileError(`${given} is only for ${only}: add ${add}, or leave it out`);
}

/** Throws FileError if both options are given. */
export function refuseBoth(command: Command, one: OptionName, other: OptionName): void {
  if (firstGiven(command, [one]) !== undefined) refuseBeside(command, one, [other]);
}

/** Throws FileError if one of these options of a report is given with `--partial`, which makes none. */
export function refuseWithPartial(command: Command, names: readonly OptionName[]): void {
  const given = firstGiven(command, names);
  if (given !== undefined && firstGiven(command, ['--partial']) !== undefined)
    throw new FileError(
      `${given} is for the report, which \`merge\` makes of all parts: give it to \`merge\`, or leave out --partial`,
    );
}
