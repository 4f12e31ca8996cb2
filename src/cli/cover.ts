import type { Command } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { rerunCommand } from '../simulator/result.ts';
import type { Thresholds } from '../coverage/thresholds.ts';
import { refuseBoth, refuseWithPartial } from './option_conflicts.ts';
import { addText } from './option_values.ts';
import { EXIT } from './exit_codes.ts';
import { growHeapSlowly } from './heap_limit.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { printFindings } from './terminal.ts';
import { FileError } from '../project_files/load_config.ts';
import { coverageRecords } from '../project_files/coverage_records.ts';
import {
  COVERAGE_REPORTERS,
  addCoverage,
  addThresholds,
  type AskedCoverage,
} from './testing/coverage_report.ts';
import { printCoverage } from './testing/coverage_output.ts';
import { findTests, nothingSelected } from './testing/find_files.ts';
import { runScenarios } from '../project_files/run_scenarios.ts';
import { selector } from '../project_files/select.ts';
import { type Inputs, type PartOptions, partOptions } from './part.ts';
import type { CoverPart } from './merging/coverage.ts';
import { reportersOption } from './reporter_option.ts';
import { stderr } from './output.ts';

interface Options extends ServiceOptions, PartOptions {
  readonly filter: readonly string[];
  readonly tag: readonly string[];
  readonly seed?: string;
  readonly reporter: readonly AskedCoverage[];
  readonly threshold: Thresholds;
  readonly emitCases?: string;
  readonly offer: boolean;
}

export function register(command: Command): void {
  reportersOption(partOptions(serviceNameOption(command), 'the cases'), COVERAGE_REPORTERS, addCoverage)
    .argument(
      '[path...]',
      'scenario files, folders with them, or patterns; for an edge file or policy, the scenario files next to it that test it; default: this folder',
    )
    .option('-f, --filter <text>', 'cases whose name contains this; can be repeated', addText, [])
    .option('-t, --tag <tags>', 'cases with one of these tags, or without !tag; can be repeated', addText, [])
    .option('--seed <seed>', 'seed of randomness; overrides those of the files')
    .option(
      '--threshold <kind=percent,...>',
      'minimum percentages, such as rules=100,mcdc=90',
      addThresholds,
      {},
    )
    .option('--no-offer', 'do not search for cases that increase coverage')
    .option('--emit-cases <file>', 'write a scenario file with suggested cases for uncovered points')
    .action(async (paths: string[], options: Options) => {
      refuseBoth(command, '--no-offer', '--emit-cases');
      refuseWithPartial(command, ['--reporter', '--json', '--threshold']);
      process.exitCode = await cover(paths, options);
    });
}

async function cover(paths: readonly string[], options: Options): Promise<number> {
  const files = await findTests(paths);
  const { filter, tag, shard, partial } = options;
  const selects = selector({ filters: filter, tags: tag, shard: shard ?? null });
  if (typeof selects !== 'function') throw new FileError(selects.problem);
  if (partial !== undefined && options.emitCases !== undefined)
    throw new FileError('--emit-cases needs the coverage of all shards; leave it out, or --partial');
  growHeapSlowly();
  const book = coverageRecords();
  const made = new Set<string>(files);
  const run = {
    selects,
    serviceName: options.serviceName,
    seed: options.seed ?? null,
    repeat: 1,
    bail: false,
    lines: false,
    onResult: () => {},
    on: book.on,
  };
  const results = await runScenarios(files, run, (_, own) => own.forEach((each) => made.add(each)));
  const findings = results.flatMap(({ diagnostics }) => diagnostics);
  if (hasErrors(findings)) {
    printFindings(findings);
    return EXIT.configInvalid;
  }
  const cases = results.flatMap((each) => each.cases);
  const failed = cases.filter(({ status }) => status === 'failed');
  if (partial !== undefined) {
    const { recordingsOf } = await import('./merging/coverage.ts');
    const { writePart } = await import('./part.ts');
    const result: CoverPart = {
      paths: files,
      serviceName: options.serviceName ?? null,
      asked: { filter, tag, seed: options.seed ?? null },
      files: [...made],
      recordings: recordingsOf(book),
      cases: cases.length,
      failed: failed.map((each) => ({ name: each.name, again: rerunCommand(each) })),
    };
    writePart(partial, { verb: 'cover', shard, inputs: coverInputs(result), result });
    return EXIT.ok;
  }
  if (cases.length === 0) {
    stderr.write(nothingSelected(files, paths, options));
    // Without cases, what an edge leaves untested is still worth a report, but not with a filter that is mistyped.
    if (options.filter.length > 0 || options.tag.length > 0) return EXIT.nothingSelected;
  }
  const isReached = await printCoverage(book.edges(), {
    reporters: options.reporter,
    thresholds: options.threshold,
    emitCases: options.emitCases ?? null,
    isOffering: options.offer,
  });
  for (const each of failed) stderr.write(`failed: ${each.name}\n  again: ${rerunCommand(each)}\n`);
  if (failed.length > 0) return EXIT.failed;
  if (cases.length === 0) return EXIT.nothingSelected;
  return isReached ? EXIT.ok : EXIT.gateMissed;
}

/** What the parts of a run have in common. */
export function coverInputs({ files, paths, serviceName, asked }: CoverPart): Inputs {
  return { files, options: { paths, serviceName, asked } };
}
