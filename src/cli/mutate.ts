import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { FileError } from '../project_files/load_config.ts';
import { scenarioLoader } from '../project_files/load_scenario.ts';
import { MUTANTS, countMutants, type MutationResult, mutate, scoreOf } from '../project_files/mutate.ts';
import { refuseWithPartial } from './option_conflicts.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { readCount } from './option_values.ts';
import { printFindings, printReport } from './terminal.ts';
import { packageVersion } from './version.ts';
import { writeText } from './write_file.ts';
import { counted } from '../diagnostics/message_text.ts';
import { MUTATION_REPORTERS } from '../project_files/mutation_report.ts';
import { type PartOptions, partOptions } from './part.ts';
import { reporterOption } from './reporter_option.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { stderr } from './output.ts';
import { isDocumentName } from '../config_file/document.ts';

interface Options extends ServiceOptions, PartOptions {
  readonly max: number;
  readonly threshold?: number;
  readonly reporter: keyof typeof MUTATION_REPORTERS;
  readonly emitCases?: string;
  readonly jobs?: number;
}

export function register(command: Command): void {
  reporterOption(partOptions(serviceNameOption(command), 'the mistakes'), Object.keys(MUTATION_REPORTERS))
    .argument('[file]', `scenario file${usualText('scenario')}`)
    .option('--max <count>', 'maximum number of mistakes to try', readCount, MUTANTS)
    .option('--threshold <percent>', 'exit with 8 if fewer of the mistakes are noticed', readPercent)
    .option('--emit-cases <file>', 'write a scenario file with a case for each survivor that a request shows')
    .option('--jobs <count>', 'number of threads; default: automatic', readCount)
    .action(async (file: string | undefined, options: Options) => {
      refuseWithPartial(command, ['--reporter', '--json', '--threshold']);
      process.exitCode = await run(namedOrUsual(file, 'scenario'), options);
    });
}

/** Fewer mistakes are tried on one thread, because starting another one takes longer. */
const MUTANTS_PER_THREAD = 200;

async function run(file: string, options: Options): Promise<number> {
  const { max, threshold, reporter, emitCases, shard, partial } = options;
  const jobs = options.jobs ?? (shard === undefined ? await jobsFor(file, max) : 1);
  if (emitCases !== undefined) checkName(emitCases);
  const { serviceName } = options;
  const share = { index: (shard?.index ?? 1) - 1, of: shard?.of ?? 1 };
  const asked = { max, offers: emitCases !== undefined, serviceName, share };
  const result =
    jobs > 1
      ? await (await import('./mutate_threads.ts')).mutateOnThreads(file, asked, jobs)
      : await mutate(file, asked);
  if ('diagnostics' in result) {
    printFindings(result.diagnostics);
    return EXIT.configInvalid;
  }
  if (partial !== undefined) {
    const { files } = await scenarioLoader({ serviceName })(file);
    const inputs = { files, options: { file, max, serviceName } };
    const { writePart } = await import('./part.ts');
    writePart(partial, { verb: 'mutate', shard, inputs, result });
    if (emitCases !== undefined) await emit(file, emitCases, result);
    return EXIT.ok;
  }
  printReport(reporter, MUTATION_REPORTERS[reporter](result, packageVersion()));
  if (emitCases !== undefined) await emit(file, emitCases, result);
  return threshold !== undefined && scoreOf(result) < threshold ? EXIT.gateMissed : EXIT.ok;
}

async function jobsFor(file: string, max: number): Promise<number> {
  const count = Math.min(max, await countMutants(file));
  return Math.max(1, Math.min(availableParallelism(), Math.floor(count / MUTANTS_PER_THREAD)));
}

function checkName(path: string): void {
  if (!isDocumentName(path))
    throw new FileError(`${path} cannot be a scenario file; use a name that ends in .yaml or .json`);
}

async function emit(file: string, path: string, { survivors }: MutationResult): Promise<void> {
  const { scenarioOfCases } = await import('../project_files/offered_scenario.ts');
  const cases = survivors.flatMap(({ offered }) => offered ?? []);
  writeText(path, await scenarioOfCases(file, path, cases));
  stderr.write(`${path}: ${counted(cases.length, 'case')} for ${counted(survivors.length, 'survivor')}\n`);
}

function readPercent(text: string): number {
  const percent = Number(text.replace(/%$/, ''));
  if (text === '' || !(percent >= 0 && percent <= 100))
    throw new InvalidArgumentError('expected a percentage from 0 to 100.');
  return percent;
}
