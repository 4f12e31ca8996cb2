import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { programOf } from '../../src/cli/program.ts';
import { VERB_NAMES } from '../../src/cli/verbs.ts';

// The flags of all verbs, from the command line itself.

interface Flag {
  readonly verb: string;
  readonly short: string | undefined;
  readonly long: string;
}

let flags: readonly Flag[];
beforeAll(async () => {
  const program = await programOf(VERB_NAMES);
  const flagsOf = (command: Command): Flag[] => [
    ...command.options.map(({ short, long }) => ({ verb: command.name(), short, long: long! })),
    ...command.commands.flatMap(flagsOf),
  ];
  flags = program.commands.flatMap(flagsOf);
});

describe('one meaning per letter', () => {
  it('a letter stands for the same long name in every verb', () => {
    const meanings = Map.groupBy(
      flags.filter(({ short }) => short !== undefined),
      ({ short }) => short!,
    );
    expect(meanings.size).toBeGreaterThan(10);
    const several = [...meanings].map(
      ([letter, own]) => [letter, [...new Set(own.map(({ long }) => long))]] as const,
    );
    expect(several.filter(([, names]) => names.length > 1)).toEqual([]);
  });

  it('an option has its letter in every verb, or in none', () => {
    const letters = Map.groupBy(flags, ({ long }) => long);
    const torn = [...letters].filter(([, own]) => new Set(own.map(({ short }) => short)).size > 1);
    expect(
      torn.map(([long, own]) => [long, own.map(({ verb, short }) => `${verb} ${short ?? '-'}`)]),
    ).toEqual([]);
  });

  it('-r is always the reporter', () => {
    expect(flags.filter(({ long, short }) => (long === '--reporter') !== (short === '-r'))).toEqual([]);
  });
});
