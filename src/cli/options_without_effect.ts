import type { Command } from 'commander';
import { FileError } from '../project_files/load_config.ts';
import { firstGiven, type OptionName, refuseBoth } from './option_conflicts.ts';

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

/** Before a verb that serves runs: throws FileError for options that would have no effect. */
export function refuseWithoutEffect(command: Command): Command {
  return command.hook('preAction', () => {
    for (const [names, others] of NEEDED) refuseLone(command, names, others);
    for (const [one, other] of EXCLUDING) refuseBoth(command, one, other);
  });
}

function refuseLone(command: Command, names: readonly OptionName[], others: readonly OptionName[]): void {
  const known = others.filter((name) => command.options.some(({ long }) => long === name));
  const lone = firstGiven(command, names);
  if (lone === undefined || known.length === 0 || firstGiven(command, known) !== undefined) return;
  throw new FileError(`${lone} has no effect without ${known.join(' or ')}: add it, or leave out ${lone}`);
}
