import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import type { OptionGroups } from '../../src/cli/option_groups.ts';
import { programOf } from '../../src/cli/program.ts';
import type { VerbRow } from '../../src/cli/verb_row.ts';
import { VERBS, VERB_NAMES } from '../../src/cli/verbs.ts';
import { edgeproof } from './command.ts';
import { exampleFolder } from './table/folder.ts';

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

describe('headings of options', () => {
  const rows: Readonly<Record<string, VerbRow>> = VERBS;
  const namesOf = (groups: OptionGroups) => groups.flatMap(([, names]) => names);

  it('a verb with many options has them under headings, each option once', async () => {
    const program = await programOf(VERB_NAMES);
    const many = program.commands.filter(({ options }) => options.length > 13);
    expect(many.length).toBeGreaterThanOrEqual(7);
    for (const command of many) {
      const { options: groups = [] } = rows[command.name()]!;
      const own = command.options.map(({ long }) => long!);
      expect(namesOf(groups)).toEqual([...new Set(namesOf(groups))]);
      // The order of the help, of completion and of the reference is that of the table.
      expect([command.name(), own]).toEqual([
        command.name(),
        namesOf(groups).filter((name) => own.includes(name)),
      ]);
    }
  });

  it('the table names no option that no verb with it has', () => {
    const missing = Object.values(rows).flatMap(({ options: groups = [] }) => {
      const verbs = new Set(
        Object.keys(rows).filter((name) =>
          namesOf(rows[name]!.options ?? []).some((each) => namesOf(groups).includes(each)),
        ),
      );
      const own = new Set(flags.filter(({ verb }) => verbs.has(verb)).map(({ long }) => long));
      return namesOf(groups).filter((name) => !own.has(name));
    });
    expect(missing).toEqual([]);
  });

  it('the help shows the headings, and the options below them', async () => {
    const { stdout } = await edgeproof(['dev', '--help'], process.cwd());
    const shown = [...stdout.matchAll(/^([A-Z].*):$|^ {2}(?:-., )?(--[\w-]+)/gm)];
    const lines = shown.map(([, heading, name]) => heading ?? name!);
    const own = new Set(flags.filter(({ verb }) => verb === 'dev').map(({ long }) => long));
    const wanted = rows['dev']!.options!.flatMap(([heading, names]) =>
      [heading].concat(names.filter((name) => own.has(name))),
    );
    expect(lines).toEqual(['Arguments', ...wanted, 'Help', '--help', 'Examples']);
  });
});

describe('reports for programs', () => {
  it('every verb with -r has --json, and no verb has only one of them', () => {
    const verbs = (long: string) => flags.filter((flag) => flag.long === long).map(({ verb }) => verb);
    expect(verbs('--json')).toEqual(verbs('--reporter'));
    expect(verbs('--json').length).toBeGreaterThanOrEqual(15);
  });

  const folder = exampleFolder();
  it.each([
    ['check', 'edge.yaml'],
    ['explain-code', '2207'],
    ['test', 'edge.scenario.yaml', '-f', 'nothing like it'],
    ['cover', 'edge.scenario.yaml', '--no-offer'],
    ['mutate', '--max', '2', 'edge.scenario.yaml'],
    ['sim', 'load.scenario.yaml'],
    ['explain', 'GET', 'https://app.test/admin', '--ip', '198.51.100.1'],
    ['eval', '1 + 1'],
    ['replay', 'access.log'],
    ['diff', 'edge.yaml', 'edge.yaml'],
    ['prove', '--properties', 'shop.property.yaml'],
    ['classes'],
    ['webhook', 'verify', '--provider', 'github', '--secret', 'abc', '--data', 'payload.json'],
  ])('%s: --json is -r json', async (...words) => {
    const [short, long] = await Promise.all([
      edgeproof([...words, '--json'], folder),
      edgeproof([...words, '-r', 'json'], folder),
    ]);
    const withoutTimes = (text: string) =>
      text.replaceAll(/"(?:\w*ms|startMs|at|time\w*|duration\w*)": *[\d."T:Z-]+/gi, '');
    expect(JSON.parse(long.stdout)).toBeTypeOf('object');
    expect(withoutTimes(short.stdout)).toBe(withoutTimes(long.stdout));
    expect(short.code).toBe(long.code);
  });
});

describe('options without effect are refused', () => {
  const folder = exampleFolder();
  it.each([
    ['playground --out page --port 80', '--out and --port exclude each other: leave one out'],
    [
      'record edge.yaml --limit 5 --out log.ndjson',
      '--limit is only for logs that are converted: add --from LOG, or leave it out',
    ],
    [
      'record edge.yaml --to har --out log.ndjson',
      '--to is only for logs that are converted: add --from LOG, or leave it out',
    ],
    [
      'record --from log.ndjson --to har --no-watch',
      '--from and --no-watch exclude each other: leave one out',
    ],
    [
      'explain --scenario a.yaml --case a --ip 1.2.3.4',
      '--scenario and --ip exclude each other: leave one out',
    ],
    [
      'explain --scenario a.yaml --case a -e b.yaml',
      '--scenario and --edge exclude each other: leave one out',
    ],
    ['explain --connect tcp.test:1 -H a:b', '--connect and --header exclude each other: leave one out'],
    [
      'explain GET https://a.test/ --sni b.test',
      '--sni is only for connections: add --connect HOST:PORT, or leave it out',
    ],
    ['fmt --check --write a.yml', '--check and --write exclude each other: leave one out'],
  ])('%s', async (line, message) => {
    expect(await edgeproof(line.split(' '), folder)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `${message}\n`,
    });
  });
});
