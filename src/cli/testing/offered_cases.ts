import { extname } from 'node:path';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { compileCase } from '../../simulator/compile_case.ts';
import { fileSetting } from '../../simulator/case_setting.ts';
import { findCases } from '../../simulator/search/cover_points.ts';
import { type Draft, draftsOfCase } from '../../simulator/search/draft.ts';
import { type EmittedCases, emittedCases, scenarioText } from '../../simulator/search/emit.ts';
import { noticingCases } from '../../simulator/search/noticing_cases.ts';
import { FileError } from '../../project_files/load_config.ts';
import type { RecordedEdge } from '../../project_files/coverage_records.ts';
import type { LoadedScenario } from '../../project_files/load_scenario.ts';
import { testedBy } from '../../project_files/offered_scenario.ts';
import { signerFor, signerOf } from '../../project_files/run_scenarios.ts';
import { writeText } from '../write_file.ts';
import { counted } from '../../diagnostics/message_text.ts';

/** Suggested cases that cover what the cases of an edge do not; with `noticing` also cases that fail after mistakes. */
export async function offeredCases(recorded: RecordedEdge, noticing: boolean): Promise<EmittedCases> {
  const { covered } = recorded;
  const drafts = await Promise.all(
    recorded.scenarios.map((each) => startRequests(each, covered.edge.config)),
  );
  const signer = await signerOf(covered.edge.config);
  const start = drafts.flat();
  const found = findCases(covered, start, { signer });
  const more = noticing ? noticingCases(covered, found, start, { signer }) : [];
  return emittedCases(covered, [...found, ...more], testedBy(recorded.first, null));
}

/** The requests of the cases in a file; the search starts from them. */
async function startRequests({ checked }: LoadedScenario, edge: EdgeConfig): Promise<readonly Draft[]> {
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

/** Writes the cases of all edges: to one file, or to one file per edge. */
export async function writeCases(
  offers: readonly { readonly recorded: RecordedEdge; readonly emitted: EmittedCases }[],
  path: string,
): Promise<void> {
  const extension = extname(path);
  if (!['.yaml', '.yml', '.json'].includes(extension))
    throw new FileError(`${path} cannot be a scenario file; use a name that ends in .yaml or .json`);
  const own = offers.filter(({ emitted }) => emitted.cases.length > 0);
  if (own.length === 0) process.stderr.write('found no case that increases coverage\n');
  for (const [index, { recorded, emitted }] of own.entries()) {
    const file = index === 0 ? path : numbered(path, index + 1);
    const form = extension === '.json' ? 'json' : 'yaml';
    writeText(file, scenarioText(emitted, testedBy(recorded.first, file), form));
    const { cases, points } = emitted;
    process.stderr.write(
      `${file}: ${counted(cases.length, 'case')} for ${counted(points.length, 'point')} of ${recorded.first.edgeName}\n`,
    );
  }
}

/** `a.scenario.yaml` → `a.2.scenario.yaml`. */
function numbered(path: string, number: number): string {
  return path.replace(/((?:\.scenario)?\.\w+)$/, `.${number}$1`);
}
