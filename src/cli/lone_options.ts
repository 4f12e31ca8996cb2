import type { Command } from 'commander';
import { FileError } from '../project_files/load_config.ts';

type OptionName = `--${string}`;

// table: options of the verbs that serve, and those of which each needs one to have an effect
const NEEDED: readonly (readonly [names: readonly OptionName[], others: readonly OptionName[]])[] = [
  [['--record-bodies', '--hash-redacted', '--hash-key'], ['--record']],
  [['--event-filter'], ['--events']],
  [['--authtoken'], ['--agents']],
  [['--admin-host'], ['--admin-port']],
  [['--shared-unavailable'], ['--shared', '--workers']],
];

// table: options of the verbs that serve of which one leaves the other without effect
const EXCLUDING: readonly (readonly [OptionName, OptionName])[] = [
  ['--no-watch', '--poll'],
  ['--no-tls', '--tls-port'],
  ['--hash-redacted', '--hash-key'],
];

/** Whether the command line has the option; defaults and the environment do not count. */
function isGiven(command: Command, name: OptionName): boolean {
  const option = command.options.find(({ long }) => long === name);
  return option !== undefined && command.getOptionValueSource(option.attributeName()) === 'cli';
}

/** Before a verb that serves runs: throws FileError for options that would have no effect. */
export function refuseWithoutEffect(command: Command): Command {
  return command.hook('preAction', () => {
    for (const [names, others] of NEEDED) refuseLone(command, names, others);
    for (const [one, other] of EXCLUDING) refuseBoth(command, one, other);
  });
}

function refuseLone(command: Command, names: readonly OptionName[], others: readonly OptionName[]): void {
  const known = others.filter((name) => command.options.some(({ long }) => long === name));
  const lone = names.find((name) => isGiven(command, name));
  if (lone === undefined || known.length === 0 || known.some((name) => isGiven(command, name))) return;
  throw new FileError(`${lone} has no effect without ${known.join(' or ')}: add it, or leave out ${lone}`);
}

/** Throws FileError if both options are given. */
export function refuseBoth(command: Command, one: OptionName, other: OptionName): void {
  if (isGiven(command, one) && isGiven(command, other))
    throw new FileError(`${one} and ${other} exclude each other: leave one out`);
}

/** Throws FileError if one of these options of a report is given with `--partial`, which makes none. */
export function refuseWithPartial(command: Command, names: readonly OptionName[]): void {
  const given = names.find((name) => isGiven(command, name));
  if (given !== undefined && isGiven(command, '--partial'))
    throw new FileError(
      `${given} is for the report, which \`merge\` makes of all parts: give it to \`merge\`, or leave out --partial`,
    );
}
