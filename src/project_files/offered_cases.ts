import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { CoveredEdge } from '../coverage/coverage.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { compileCase } from '../simulator/compile_case.ts';
import type { Signer } from '../simulator/document/requests.ts';
import { fileSetting } from '../simulator/case_setting.ts';
import { type FoundCase, foundCase, findCases } from '../simulator/search/cover_points.ts';
import { type Draft, draftsOfCase } from '../simulator/search/draft.ts';
import { type EmittedCases, emittedCases } from '../simulator/search/emit.ts';
import { noticingCases } from '../simulator/search/noticing_cases.ts';
import { draftRunner } from '../simulator/search/run_draft.ts';
import type { RecordedEdge } from './coverage_records.ts';
import type { LoadedScenario } from './load_scenario.ts';
import { testedBy } from './offered_scenario.ts';
import { signerFor, signerOf } from './run_scenarios.ts';

/** Suggested cases that cover what the cases of an edge do not; with `noticing` also cases that fail after mistakes. */
export async function offeredCases(recorded: RecordedEdge, noticing: boolean): Promise<EmittedCases> {
  const { covered } = recorded;
  const drafts = await Promise.all(
    recorded.scenarios.map((each) => startRequests(each, covered.edge.config)),
  );
  const signer = await signerOf(covered.edge.config);
  const start = drafts.flat();
  const found = noticing ? foundUnwatched(covered, start, signer) : findCases(covered, start, { signer });
  const more = noticing ? noticingCases(covered, found, start, { signer }) : [];
  return emittedCases(covered, [...found, ...more], testedBy(recorded.first, null));
}

/** Found cases that run on the edge which the noticing ones need compiled: that of the search need not stay. */
function foundUnwatched(
  covered: CoveredEdge,
  start: readonly Draft[],
  signer: Signer | null,
): readonly FoundCase[] {
  const run = draftRunner(covered.edge.unwatched());
  return findCases(covered, start, { signer }).map(({ draft, points }) => foundCase(draft, run, points));
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
