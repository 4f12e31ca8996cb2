import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { FileError, readText } from '../project_files/load_config.ts';
import { packageVersion } from './version.ts';
import { writeText } from './write_file.ts';
import { stdout } from './output.ts';
import { nodeCrypto } from '../loading/builtins.ts';

/** Large runs are split: each process runs a shard and leaves its result as a part, and `merge` makes one report of all. */

/** Part `index`, from 1, of `of`. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

export interface PartOptions {
  readonly shard?: Shard;
  readonly partial?: string;
}

type PartVerb = 'replay' | 'cover' | 'mutate' | 'test';

/** The result of one process, one line of JSON. */
export interface Part<Result> {
  readonly edgeproof_part: 1;
  readonly verb: PartVerb;
  readonly version: string;
  /** A digest of the files and options: only results of the same inputs can be merged. */
  readonly inputs: string;
  /** Null where another program has split the input. */
  readonly shard: Shard | null;
  readonly result: Result;
}

/** Adds `--shard` and `--partial`; `what` is what is split. */
export function partOptions(command: Command, what: string): Command {
  return command
    .option('--shard <i/n>', `run part i of n of ${what}`, readShard)
    .option(
      '--partial <file>',
      'write the result for `merge` to this file, or - for standard output, and no report',
    );
}

function readShard(text: string): Shard {
  const parts = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(text);
  if (parts === null || Number(parts[1]) > Number(parts[2])) {
    throw new InvalidArgumentError('write a shard as i/n, such as 2/4.');
  }
  return { index: Number(parts[1]), of: Number(parts[2]) };
}

/** What a part is made of: the text of files, and options that change the result. */
export interface Inputs {
  readonly files: readonly string[];
  readonly options: object;
}

export function writePart<Result>(
  path: string,
  {
    verb,
    shard,
    inputs,
    result,
  }: Pick<Part<Result>, 'verb' | 'result'> & {
    readonly shard: Shard | undefined;
    readonly inputs: Inputs;
  },
): void {
  const part: Part<Result> = {
    edgeproof_part: 1,
    verb,
    version: packageVersion(),
    inputs: digestOf(inputs),
    shard: shard ?? null,
    result,
  };
  const line = `${JSON.stringify(part)}\n`;
  if (path === '-') stdout.write(line);
  else writeText(path, line);
}

export function digestOf({ files, options }: Inputs): string {
  const hash = nodeCrypto().createHash('sha256').update(JSON.stringify(options));
  for (const file of [...new Set(files)].sort()) hash.update(`\0${file}\0`).update(bytesOf(file));
  return hash.digest('hex');
}

/** A file that a program names and that is not there changes the result as another one does. */
function bytesOf(file: string): Uint8Array | string {
  try {
    return readFileSync(file);
  } catch {
    return 'absent';
  }
}

/** All parts of one run, in the order of their shards. */
export interface Parts {
  readonly verb: PartVerb;
  readonly inputs: string;
  /** Whether they were split by `--shard`. */
  readonly areShards: boolean;
  readonly results: readonly unknown[];
}

/** Reads files of parts, each with one or several lines. Throws FileError unless they are all parts of one run. */
export function readParts(paths: readonly string[]): Parts {
  const parts = paths.flatMap((path) => partsIn(path));
  const [first, ...others] = parts;
  if (first === undefined) throw new FileError(`${paths.join(', ')}: no part is in these files`);
  for (const other of others) mustBelong(first, other);
  const sharded = parts.filter(({ part }) => part.shard !== null);
  if (sharded.length > 0) mustBeComplete(parts);
  const ordered = parts.toSorted(
    (one, other) => (one.part.shard?.index ?? 0) - (other.part.shard?.index ?? 0),
  );
  const { verb, inputs } = first.part;
  return { verb, inputs, areShards: sharded.length > 0, results: ordered.map(({ part }) => part.result) };
}

interface Named {
  readonly path: string;
  readonly part: Part<unknown>;
}

function partsIn(path: string): readonly Named[] {
  const lines = readText(path).split('\n');
  return lines.flatMap((line, at) =>
    line.trim() === '' ? [] : { path, part: partOf(line, lines.length > 2 ? `${path}:${at + 1}` : path) },
  );
}

function partOf(line: string, place: string): Part<unknown> {
  let value: Partial<Part<unknown>> | null = null;
  try {
    value = JSON.parse(line) as Partial<Part<unknown>> | null;
  } catch {
    // It is refused below.
  }
  if (value?.edgeproof_part === undefined)
    throw new FileError(
      `${place} is not a part, or is cut off; name files that replay, cover, mutate or test have written with --partial`,
    );
  const { version } = value;
  if (value.edgeproof_part !== 1 || version !== packageVersion())
    throw new FileError(
      `${place} was written by edgeproof ${version}, and this is ${packageVersion()}; run all shards and merge with one version`,
    );
  return value as Part<unknown>;
}

function mustBelong(first: Named, other: Named): void {
  const [a, b] = [first.part, other.part];
  if (a.verb !== b.verb)
    throw new FileError(
      `${first.path} is a part of ${a.verb}, and ${other.path} of ${b.verb}; merge them apart`,
    );
  if (a.inputs !== b.inputs)
    throw new FileError(
      `${first.path} and ${other.path} are parts of different runs: files or options have changed between them; run the older one again`,
    );
}

function mustBeComplete(parts: readonly Named[]): void {
  const counts = new Set(parts.map(({ part }) => part.shard?.of ?? null));
  if (counts.size > 1)
    throw new FileError(
      `the parts are of ${[...counts].map((count) => (count === null ? 'a run without --shard' : `${count} shards`)).join(' and of ')}; merge those of one split`,
    );
  const seen = new Map<number, string>();
  for (const { path, part } of parts) {
    const { index, of } = part.shard!;
    const before = seen.get(index);
    if (before !== undefined)
      throw new FileError(`${before} and ${path} are both shard ${index}/${of}; leave one out`);
    seen.set(index, path);
  }
  const { of } = parts[0]!.part.shard!;
  const missing = Array.from({ length: of }, (_, at) => at + 1).filter((index) => !seen.has(index));
  if (missing.length > 0)
    throw new FileError(
      `of ${of} shards, ${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ` and ${missing.length - 10} more` : ''} ${missing.length === 1 ? 'is' : 'are'} missing; run ${missing.length === 1 ? 'it' : 'them'}, and name all parts`,
    );
}
