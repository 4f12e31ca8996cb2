import { dirname, extname, relative, resolve } from 'node:path';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { compileCase, fileSetting } from '../../simulator/compile_case.ts';
import { findCases } from '../../simulator/search/cover_points.ts';
import { type Draft, draftsOfCase } from '../../simulator/search/draft.ts';
import { type EmittedCases, type Tested, emittedCases, scenarioText } from '../../simulator/search/emit.ts';
import { noticingCases } from '../../simulator/search/noticing_cases.ts';
import { FileError } from '../../project_files/load_config.ts';
import type { RecordedEdge } from './coverage_book.ts';
import type { LoadedScenario } from '../../project_files/load_scenario.ts';
import { signerFor, signerOf } from '../../project_files/run_scenarios.ts';
import { written } from './write_file.ts';

/** Cases that cover what those of an edge do not; with `noticing` also cases that fail after mistakes. */
export async function offeredCases(booked: RecordedEdge, noticing: boolean): Promise<EmittedCases> {
  const { covered } = booked;
  const drafts = await Promise.all(booked.scenarios.map((each) => beginnings(each, covered.edge.config)));
  const signer = await signerOf(covered.edge.config);
  const begin = drafts.flat();
  const found = findCases(covered, begin, { signer });
  const more = noticing ? noticingCases(covered, found, begin, { signer }) : [];
  return emittedCases(covered, [...found, ...more], testedBy(booked, null));
}

/** The requests of the cases of a file. */
async function beginnings({ checked }: LoadedScenario, edge: EdgeConfig): Promise<readonly Draft[]> {
  const { scenario } = checked;
  if (scenario === null) return [];
  const findings: Diagnostic[] = [];
  const { shell, cases } = scenario;
  const setting = fileSetting(
    { checked, shell, edge, signer: await signerFor(scenario), seed: null },
    findings,
  );
  return cases.flatMap((row) => {
    const compiled = compileCase(row, setting, findings);
    return compiled === null ? [] : draftsOfCase(compiled, edge);
  });
}

/** What a file at `path` says that it tests; null: what this process calls it. */
function testedBy({ first }: RecordedEdge, path: string | null): Tested {
  const { shell } = first.checked.scenario!;
  const own = shell.edge === undefined ? { policy: shell.policy } : { edge: shell.edge };
  // Policies read them; they stand beside in a scenario file already.
  const secrets = shell.secrets === undefined ? {} : { secrets: shell.secrets };
  const [key, value] = Object.entries(own)[0]!;
  if (typeof value !== 'string' || path === null) return { ...own, ...secrets };
  const target = resolve(first.edgeName);
  const beside = relative(dirname(resolve(path)), target);
  return { [key]: beside.startsWith('.') ? beside : `./${beside}`, ...secrets } as unknown as Tested;
}

/** Writes the cases of all edges: one file, or one for each edge that has some. */
export async function writeCases(
  offers: readonly { readonly booked: RecordedEdge; readonly emitted: EmittedCases }[],
  path: string,
): Promise<void> {
  const extension = extname(path);
  if (!['.yaml', '.yml', '.json'].includes(extension))
    throw new FileError(`${path} is no scenario file: cases are written as .yaml or .json`);
  const own = offers.filter(({ emitted }) => emitted.cases.length > 0);
  if (own.length === 0) process.stderr.write('no case was found that covers more\n');
  for (const [index, { booked, emitted }] of own.entries()) {
    const file = index === 0 ? path : numbered(path, index + 1);
    const form = extension === '.json' ? 'json' : 'yaml';
    await written(file, scenarioText(emitted, testedBy(booked, file), form));
    const { cases, points } = emitted;
    process.stderr.write(
      `${file}: ${cases.length} cases for ${points.length} points of ${booked.first.edgeName}\n`,
    );
  }
}

/** `a.scenario.yaml` → `a.2.scenario.yaml`. */
function numbered(path: string, number: number): string {
  return path.replace(/((?:\.scenario)?\.\w+)$/, `.${number}$1`);
}
