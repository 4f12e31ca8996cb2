import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkScenario } from '../../simulator/document/check.ts';
import { FILES_BESIDE } from '../../project_files/files_beside.ts';
import { readText } from '../../project_files/load_config.ts';
import { isTested, scenariosOf } from '../../project_files/scenarios_of.ts';
import { nearName } from '../near_names.ts';
import { USUAL_FOLDER, placesOf } from '../usual_files.ts';
import { mustExist, namedFiles } from '../named_files.ts';
import { availableParallelism } from 'node:os';
import { isDocumentName } from '../../config_file/document.ts';

const SCENARIO = /\.scenario\.(?:ya?ml|json|[mc]?[jt]s)$/;

/** The named scenario files, and those in the named folders and patterns, sorted and without duplicates. */
export async function findScenarioFiles(paths: readonly string[]): Promise<string[]> {
  const files = await namedFiles(paths.length === 0 ? [USUAL_FOLDER] : paths, isScenario);
  for (const file of files) mustExist(file);
  return files;
}

/**
 * The same; for an edge file or policy, the scenario files in its folder and below that test it. Throws FileError.
 */
export async function findTests(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const file of await findScenarioFiles(paths)) {
    if (!isScenario(file) && (await isTested(file))) {
      const beside = await namedFiles([dirname(file)], isScenario);
      for (const each of await scenariosOf(file, beside)) found.add(each);
    } else found.add(file);
  }
  return [...found].sort();
}

function isScenario(path: string): boolean {
  return SCENARIO.test(path);
}

/** The line for a run of files in these paths without cases: what the names and tags that were asked for may have meant. */
export function nothingSelected(
  files: readonly string[],
  paths: readonly string[],
  { filter, tag }: { readonly filter: readonly string[]; readonly tag: readonly string[] },
): string {
  if (files.length === 0)
    return `no case was selected: there is no file *.scenario.yaml in ${placesOf(paths)}; \`edgeproof init\` writes one\n`;
  const rows = files
    .filter(isDocumentName)
    .flatMap(
      (file) => checkScenario({ name: file, text: readText(file) }, FILES_BESIDE).scenario?.cases ?? [],
    );
  const names = rows.map(({ name }) => name);
  const tags = rows.flatMap((row) => row.tags);
  const unknown = tag
    .flatMap((list) => list.split(','))
    .map((each) => each.trim().replace(/^!/, ''))
    .find((each) => !/[*?[{]/.test(each) && !tags.includes(each));
  const why =
    unknown !== undefined
      ? `no case has the tag '${unknown}'; ${nearName(unknown, tags)}`
      : filter.length === 1 && !filter[0]!.startsWith('/')
        ? `no case is named so; ${nearName(filter[0]!.replace(/^=/, ''), names)}`
        : 'the options leave none of the cases of these files';
  return `no case was selected: ${why}\n`;
}

/**
 * Bytes of scenario files, times repetitions, from which threads pay off: starting a thread takes about as
 * long as running a few thousand cases.
 */
const MIN_BYTES_PER_THREAD = 1_000_000;

/** How many threads to use for these files; 1 means this thread only. */
export function jobsThatPay(files: readonly string[], repeat: number): number {
  if (files.length < 2) return 1;
  const bytes = files.reduce((sum, file) => sum + sizeOf(file), 0) * repeat;
  const jobs = Math.floor(bytes / MIN_BYTES_PER_THREAD);
  return Math.max(1, Math.min(jobs, files.length, availableParallelism()));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
