import { type Command, InvalidArgumentError } from 'commander';
import { readThresholds } from '../coverage/thresholds.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { FileError } from '../project_files/load_config.ts';
import type { MutationResult } from '../project_files/mutate.ts';
import { REPORTERS, type ReporterName } from '../simulator/report/reporter.ts';
import { EXIT } from './exit_codes.ts';
import type { CoverPart } from './merging/coverage.ts';
import type { TestPart } from './merging/tests.ts';
import { addText } from './option_values.ts';
import { type Parts, digestOf, readParts } from './part.ts';
import type { ReplayPart } from './replay_part.ts';
import { type ReplayGates, readPercent, replayExitCode, replayReport } from './replay_report.ts';
import { reportersOption } from './reporter_option.ts';
import { COVERAGE_REPORTERS, type CoverageReporter } from './testing/coverage_report.ts';
import { MUTATION_REPORTERS } from '../project_files/mutation_report.ts';
import { printFindings, printReport } from './terminal.ts';
import { packageVersion } from './version.ts';
import { writeText } from './write_file.ts';
import { stderr } from './output.ts';

interface Asked {
  readonly name: string;
  readonly path: string | null;
}

interface Options extends ReplayGates {
  readonly reporter: readonly Asked[];
  readonly threshold: readonly string[];
}

/** The reports that parts of each verb can become; the first is the default. */
const REPORTS = {
  replay: ['text', 'json'],
  cover: COVERAGE_REPORTERS,
  mutate: Object.keys(MUTATION_REPORTERS),
  test: REPORTERS,
} as const;

export function register(command: Command): void {
  const names = [...new Set(Object.values(REPORTS).flat())];
  reportersOption(command, names, addReport)
    .argument('<part...>', 'files that `--partial` has written; a file may have several parts, one a line')
    .option('--threshold <value>', 'of mutate: minimum percentage; of cover: kind=percent,...', addText, [])
    .option('--max-unknown <percent>', 'of replay: exit with 7 above this percentage', readPercent)
    .option('--min-fidelity <percent>', 'of replay: exit with 8 below this percentage', readPercent)
    .action(async (files: string[], options: Options) => {
      const parts = readParts(files);
      mustFit(parts, options);
      process.exitCode = await MERGES[parts.verb](parts, options);
    });
}

type Merge = (parts: Parts, options: Options) => Promise<number>;

const MERGES: Readonly<Record<Parts['verb'], Merge>> = {
  replay: async ({ results, areShards }, options) => {
    const { mergedReplay } = await import('./merging/replay.ts');
    const { summary, placeOf } = mergedReplay(results as readonly ReplayPart[], areShards);
    for (const asked of reportsOf('replay', options))
      write(asked, replayReport(summary, asked.name as 'text' | 'json', placeOf));
    return replayExitCode(summary, options);
  },

  mutate: async ({ results }, options) => {
    const { merged, scoreOf } = await import('../project_files/mutate.ts');
    const result = merged(results as readonly MutationResult[]);
    for (const asked of reportsOf('mutate', options))
      write(
        asked,
        MUTATION_REPORTERS[asked.name as keyof typeof MUTATION_REPORTERS](result, packageVersion()),
      );
    const wanted = Math.max(0, ...options.threshold.map(percentOf));
    return scoreOf(result) < wanted ? EXIT.gateMissed : EXIT.ok;
  },

  cover: async ({ results, inputs }, options) => {
    const { mergedEdges } = await import('./merging/coverage.ts');
    const { coverInputs } = await import('./cover.ts');
    const { printCoverage } = await import('./testing/coverage_output.ts');
    const parts = results as readonly CoverPart[];
    const [first] = parts;
    if (digestOf(coverInputs(first!)) !== inputs)
      throw new FileError(
        'the scenario files or their edges have changed since the parts were written; run the shards again',
      );
    const isReached = await printCoverage(await mergedEdges(parts), {
      reporters: reportsOf('cover', options) as { name: CoverageReporter; path: string | null }[],
      thresholds: thresholdsOf(options),
      emitCases: null,
      isOffering: false,
    });
    const failed = parts.flatMap((part) => part.failed);
    for (const { name, again } of failed) stderr.write(`failed: ${name}\n  again: ${again}\n`);
    if (failed.length > 0) return EXIT.failed;
    if (parts.every(({ cases }) => cases === 0)) return EXIT.nothingSelected;
    return isReached ? EXIT.ok : EXIT.gateMissed;
  },

  test: async ({ results }, options) => {
    const { mergedTests } = await import('./merging/tests.ts');
    const { openReports } = await import('./testing/reports.ts');
    const { results: files, summary, seed } = mergedTests(results as readonly TestPart[]);
    const asked = reportsOf('test', options) as { name: ReporterName; path: string | null }[];
    const isQuiet = asked.every(({ path }) => path !== null);
    const shown = isQuiet ? [{ name: 'pretty', path: null } as const, ...asked] : asked;
    const reports = await openReports(shown, seed);
    for (const { cases } of files) for (const each of cases) reports.ran(each);
    reports.finished(files, summary);
    if (files.some(({ diagnostics }) => hasErrors(diagnostics))) {
      printFindings(files.flatMap(({ diagnostics }) => diagnostics));
      return EXIT.configInvalid;
    }
    if (summary.failed > 0) return EXIT.failed;
    return summary.passed + summary.skipped > 0 ? EXIT.ok : EXIT.nothingSelected;
  },
};

/** The reports that were asked for, or the default. */
function reportsOf(verb: Parts['verb'], { reporter }: Options): readonly Asked[] {
  return reporter.length > 0 ? reporter : [{ name: REPORTS[verb][0], path: null }];
}

function write({ name, path }: Asked, text: string): void {
  if (path === null) printReport(name, text);
  else writeText(path, text);
}

function addReport(text: string, before: readonly Asked[]): readonly Asked[] {
  const [, name = '', path = null] = /^([^=]*)(?:=(.+))?$/.exec(text) ?? [];
  return [...before, { name, path }];
}

/** Refuses reports and limits that parts of this verb do not have. */
function mustFit({ verb }: Parts, { reporter, threshold, maxUnknown, minFidelity }: Options): void {
  const names: readonly string[] = REPORTS[verb];
  const unknown = reporter.find(({ name }) => !names.includes(name));
  if (unknown !== undefined)
    throw new FileError(`parts of ${verb} have no report '${unknown.name}'; choose from ${names.join(', ')}`);
  if (threshold.length > 0 && verb !== 'mutate' && verb !== 'cover')
    throw new FileError(`--threshold is for parts of mutate and cover, and these are parts of ${verb}`);
  if ((maxUnknown ?? minFidelity) !== undefined && verb !== 'replay')
    throw new FileError(
      `--max-unknown and --min-fidelity are for parts of replay, and these are parts of ${verb}`,
    );
}

function percentOf(text: string): number {
  try {
    return readPercent(text);
  } catch (error) {
    throw asFileError(error, `--threshold ${text}`);
  }
}

function thresholdsOf({ threshold }: Options) {
  const read = threshold.map((text) => {
    const thresholds = readThresholds(text);
    if ('problem' in thresholds) throw new FileError(`--threshold ${text}: ${thresholds.problem}`);
    return thresholds;
  });
  return Object.assign({}, ...read);
}

function asFileError(error: unknown, place: string): unknown {
  return error instanceof InvalidArgumentError ? new FileError(`${place}: ${error.message}`) : error;
}
