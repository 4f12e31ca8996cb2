import type { Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXIT, EXIT_CODES } from '../../src/cli/exit_codes.ts';
import { programOf } from '../../src/cli/program.ts';
import { VERBS, VERB_NAMES } from '../../src/cli/verbs.ts';
import { IS_FULL } from '../random.ts';
import { exampleFolder, hasGit, wordsOf } from './table/folder.ts';
import { type Job, type Outcome, ranAll } from './table/ran.ts';

// Every verb × every place for a file or a port × every fault. The verbs and their options come from the command line
// itself, so a new verb is in the table as soon as it exists.

const folder = exampleFolder();

/** Faults that no verb can survive, for what it reads and for what it writes. */
const FATAL = {
  'a missing folder': 'nowhere/deep/x.yaml',
  'a folder': 'a_folder.yaml',
  'a path through a file': 'edge.yaml/x.yaml',
};
/** Faults of what is read; a verb that writes the file may replace it. */
const UNREADABLE = { 'UTF-16': 'utf16.yaml', 'a binary file': 'binary.yaml', 'Latin-1': 'latin1.yaml' };
/** A verb may create the folders that it writes to. */
const CREATES = new Set(['cert --out', 'playground --out', 'serve --event-files']);
const creates = ({ name }: Pick<Job, 'name'>): boolean => CREATES.has(name.split(':')[0]!);
/** What comes to the file only with a running instance, or a message that names a certificate. */
const READS_LATER = new Set([
  'export --out',
  'webhook verify --certificate',
  // The access log of the examples cannot be split; the destination is read before its folder.
  'replay --partial',
  'deliver --event-files',
  // The example of `cover` has a threshold, which is for `merge`.
  'cover --partial',
]);
/** `serve` opens the ports of its edges when there are such edges, and tries again if one is taken. */
const OPENS_LATER = new Set(['serve --tls-port']);
/** Written after a search that takes a second; short runs have `prove --emit-cases` and `test --partial` for them. */
const SLOW = /^(?:(?:test|cover|mutate) --emit-cases|mutate --partial):/;
/** Options that do nothing without another one. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  'dev --hash-key': ['--record', 'kept.ndjson'],
  'http --hash-key': ['--record', 'kept.ndjson'],
  '--from': ['--to', 'har'],
  '--client-cert': ['--connect', 'app.test:443'],
  '--scenario': ['--case', 'x'],
  '--tls-cert': ['--tls-key', 'payload.json'],
  '--tls-key': ['--tls-cert', 'payload.json'],
};

/** Options that exclude the request or the port of the example. */
const ALONE = new Set(['explain --scenario', 'explain --client-cert', 'playground --out', 'record --from']);

/** An option of the example that excludes this one. */
const EXCLUDED: Readonly<Record<string, string>> = { 'cover --emit-cases': '--no-offer' };

interface Place {
  readonly name: string;
  readonly args: (value: string) => readonly string[];
}

const isFile = ({ flags }: Option): boolean =>
  /^--store |[<[](?:file|path|folder|log|name\[=path\])\b/.test(flags);
const isPort = ({ flags }: Option): boolean => /[<[]port[>\]]/.test(flags);

function commandsOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(commandsOf);
}

function pathOf(command: Command): string {
  return command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** The first example of a command, which works as it is. */
function baseOf(command: Command): readonly string[] {
  const path = pathOf(command);
  const { examples } = VERBS[path.split(' ')[0] as keyof typeof VERBS];
  const own = examples.filter(([line]) => `${line} `.startsWith(`${path} `));
  const found = own.find(([line]) => wordsOf(line)[1]?.includes('.')) ?? own[0];
  const words =
    found === undefined
      ? [...path.split(' '), ...command.registeredArguments.map(() => 'x')]
      : wordsOf(found[0]);
  return command.options.some(({ long }) => long === '--port') && !words.includes('--port')
    ? [...words, '--port', '0']
    : words;
}

function placesOf(command: Command): Place[] {
  const base = baseOf(command);
  const path = pathOf(command);
  const operands = base.flatMap((word, index): Place[] =>
    index > 0 && existsSync(join(folder, word)) && !(base[index - 1] ?? '').startsWith('-')
      ? [{ name: `${path} ${word}`, args: (value) => base.with(index, value) }]
      : [],
  );
  const options = command.options.filter(isFile).map((option): Place => {
    const value = (file: string) => (option.flags.includes('[=path]') ? `json=${file}` : file);
    const name = `${path} ${option.long}`;
    const further = COMPANIONS[name] ?? COMPANIONS[option.long!] ?? [];
    const before = ALONE.has(name) ? [path] : base.filter((word) => word !== EXCLUDED[name]);
    return { name, args: (file) => [...before, ...further, option.long!, value(file)] };
  });
  return [...operands, ...options];
}

let outcomes: ReadonlyMap<string, Outcome>;
let jobs: readonly Job[] = [];

beforeAll(async () => {
  const program = await programOf(VERB_NAMES);
  const leaves = program.commands.flatMap(commandsOf);
  const files = leaves.flatMap(placesOf).flatMap(({ name, args }) =>
    Object.entries({ ...FATAL, ...UNREADABLE }).map(([fault, value]) => ({
      name: `${name}: ${fault}`,
      args: args(value),
    })),
  );
  const ports = leaves.flatMap((command) =>
    command.options.filter(isPort).map((option): Job => {
      const strict = command.options.some(({ long }) => long === '--strict-port') ? ['--strict-port'] : [];
      return {
        name: `${pathOf(command)} ${option.long}: a taken port`,
        args: [...baseOf(command), ...strict, option.long!, 'TAKEN'],
      };
    }),
  );
  // Options that write come last: they replace the files with faults.
  const isOperand = ({ name }: Job) => !/ --\S+: /.test(name);
  const options = files.filter((job) => !isOperand(job));
  // All options of a verb open their files in the same way, so one fault of each shows it.
  const tried = IS_FULL
    ? options
    : options.filter(({ name }) => name.endsWith(': a missing folder') && !SLOW.test(name));
  // Folders that are created would be there for those that read them.
  const creating = tried.filter(creates);
  jobs = [...files.filter(isOperand), ...tried.filter((job) => !creates(job)), ...creating, ...ports];
  // What later examples need: a store, its backup and a proof.
  const made = ['keys', 'backup', 'prove'].map((verb) => ({
    name: verb,
    args: wordsOf(VERBS[verb as 'keys'].examples.at(verb === 'prove' ? 1 : 0)![0]),
  }));
  const opened = { name: 'serve', args: ['serve', '--port', '0', '--api-port', '0'] };
  const ran = await ranAll([opened, ...made, ...jobs], folder, { EDGEPROOF_API_KEY: 'none' });
  outcomes = new Map(ran.map((each) => [each.name, each]));
}, 300_000);

/** Outcomes that break a rule, as texts. */
function breaking(holds: (outcome: Outcome) => boolean): string[] {
  return [...outcomes.values()]
    .filter((each) => !holds(each))
    .map(({ name, args, code, text }) => `${name} [${args.join(' ')}] → ${code}\n${text.slice(-600)}`);
}

const ends = (outcome: Outcome, faults: object) =>
  Object.keys(faults).some((fault) => outcome.name.endsWith(`: ${fault}`));

describe('every verb × every fault', () => {
  it('is a large table', () => {
    expect(jobs.length).toBeGreaterThan(IS_FULL ? 250 : 100);
    const verbs = new Set(jobs.map(({ args }) => args[0]));
    // What takes neither a file nor a port; tests of their own have the parts of `merge` and the places of `store`.
    expect(VERB_NAMES.filter((name) => !verbs.has(name))).toEqual([
      'init',
      'explain-code',
      'merge',
      'store',
      'trust',
      'lsp',
      'completion',
    ]);
  });

  it('is never called a bug, shows no stack and no raw code of the system', () => {
    expect(
      breaking(
        ({ text }) =>
          !/a bug in edgeproof|^ {4}at |\bE(?:NOENT|ISDIR|NOTDIR|ACCES|PERM|ROFS|NOSPC|IO|EXIST|BUSY|ADDR\w+|CONN\w+|PIPE|INVAL|MFILE|NXIO)\b|undefined|\[object/m.test(
            text,
          ),
      ),
    ).toEqual([]);
  });

  it('has an exit code of the table', () => {
    const codes = new Set<number>(EXIT_CODES.map(([code]) => code));
    expect(breaking(({ code }) => codes.has(code))).toEqual([]);
  });

  it('a file that cannot be opened ends the verb, which names it', () => {
    expect(
      breaking((each) => {
        if (!ends(each, FATAL)) return true;
        if (creates(each) && each.code === EXIT.ok) return true;
        if (each.name === 'mcp --root: a folder') return each.code === EXIT.ok;
        if (READS_LATER.has(each.name.split(':')[0]!)) return true;
        // The files of the example differ: there is no equivalence to certify.
        if (each.name.startsWith('diff --certificate: ') && hasGit) return each.code === EXIT.differs;
        // Without git the branch cannot be read, which ends the verb before.
        if (!hasGit && each.args.some((word) => word.startsWith('main:'))) return each.code === EXIT.usage;
        // These take folders; an empty one has no case.
        if (/^(?:test|cover) edge\S+ a folder$/.test(each.name)) return each.code === EXIT.nothingSelected;
        const path = Object.values(FATAL).find((value) => each.args.some((word) => word.endsWith(value)))!;
        return (
          [EXIT.usage, EXIT.configInvalid, EXIT.runtime].includes(each.code as 2) &&
          each.text.includes(path.split('/')[0]!)
        );
      }),
    ).toEqual([]);
  });

  it.each(['check', 'fmt', 'dev', 'test', 'diff', 'classes', 'mutate', 'cover', 'sim', 'apply'])(
    'an operand of %s in another encoding is refused, with a cure',
    (verb) => {
      const own = [...outcomes.values()].filter(
        ({ name }) => name.startsWith(`${verb} `) && !/ --\S+: /.test(name),
      );
      const of = (fault: string) => own.filter(({ name }) => name.endsWith(`: ${fault}`));
      for (const fault of Object.keys(UNREADABLE)) expect(of(fault).length).toBeGreaterThan(0);
      expect(of('UTF-16').filter(({ text }) => !/encoded in UTF-16; save it as UTF-8/.test(text))).toEqual(
        [],
      );
      expect(
        of('a binary file').filter(({ text }) => !/it is not a text: it contains zero bytes/.test(text)),
      ).toEqual([]);
      expect(
        of('Latin-1').filter(({ text }) => !/it is not encoded in UTF-8; save it as UTF-8/.test(text)),
      ).toEqual([]);
    },
  );

  it('a taken port has its place, cause and cure', () => {
    expect(
      breaking(
        (each) =>
          !each.name.endsWith('a taken port') ||
          OPENS_LATER.has(each.name.split(':')[0]!) ||
          (each.code === EXIT.runtime &&
            /cannot listen on 127\.0\.0\.1:TAKEN: another program listens there; .*another port/.test(
              each.text,
            )),
      ),
    ).toEqual([]);
  });
});
