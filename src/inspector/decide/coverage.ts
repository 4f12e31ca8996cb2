import { coverageOf, coveredEdge } from '../../coverage/coverage.ts';
import { edgeFixture } from '../../coverage/edge_fixture.ts';
import { percentOf } from '../../coverage/measure.ts';
import { type MeasuredPoint, isLeftOut } from '../../coverage/point.ts';
import { sentenceOf } from '../../coverage/report.ts';
import { diagnosticsToJson } from '../../diagnostics/json.ts';
import type { Place } from '../../edge/explain.ts';
import { coverageRecords, reportOf } from '../../project_files/coverage_records.ts';
import { runScenarios } from '../../project_files/run_scenarios.ts';
import { replayedEdge } from '../../replay/decide.ts';
import type { CoverageAnswer } from '../wire_editing.ts';
import { recordOf } from './explain_again.ts';
import { inSlices } from './slices.ts';
import type { Circumstances, Deciding, KeptRequest } from './subject.ts';

/** Runs a scenario file, and says which points of its edge its cases have reached. */
export async function scenarioCoverage(path: string): Promise<CoverageAnswer> {
  const book = coverageRecords();
  const results = await runScenarios([path], {
    selects: () => true,
    seed: null,
    repeat: 1,
    bail: false,
    lines: false,
    onResult: () => {},
    on: book.on,
  });
  const diagnostics = diagnosticsToJson(results.flatMap((each) => each.diagnostics));
  const [recorded] = book.edges();
  if (recorded === undefined) return { name: path, percent: 0, points: [], diagnostics };
  const { coverage, locate } = reportOf(recorded, {}, new Map());
  return { ...answerOf(path, coverage.points, locate), diagnostics };
}

/** Which points of a configuration exchanges have reached, decided again without state. */
export async function keptCoverage(
  { config, locate }: Deciding,
  circumstances: Circumstances,
  kept: readonly KeptRequest[],
): Promise<CoverageAnswer> {
  const covered = coveredEdge(edgeFixture(config, locate));
  const { watch, completed } = covered.recorder;
  const edge = replayedEdge(config, { ...circumstances, watch });
  await inSlices(kept, (each) => {
    const record = recordOf(each);
    if (record !== null) completed(edge.decide(record).exchange);
  });
  const { points } = coverageOf(covered);
  return answerOf(`the last ${kept.length} exchanges`, points, ({ pointer }) => locate(pointer));
}

function answerOf(
  name: string,
  points: readonly MeasuredPoint[],
  locate: (point: MeasuredPoint) => Place | null,
): CoverageAnswer {
  const possible = points.filter((point) => !isLeftOut(point));
  const covered = possible.filter(({ uncovered }) => uncovered === null).length;
  return {
    name,
    percent: percentOf({ covered, possible: possible.length }),
    diagnostics: [],
    points: points.map((point) => ({
      kind: point.kind,
      place: locate(point),
      pointer: point.pointer,
      state: point.uncovered === null ? 'hit' : isLeftOut(point) ? 'impossible' : 'missed',
      hits: point.hits,
      message: point.uncovered === null ? point.message : `${point.message}: ${sentenceOf(point.uncovered)}`,
    })),
  };
}
