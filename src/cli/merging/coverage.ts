import type { Recording } from '../../coverage/recorder.ts';
import {
  type CoverageRecords,
  type RecordedEdge,
  coverageRecords,
} from '../../project_files/coverage_records.ts';
import { runScenarios } from '../../project_files/run_scenarios.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { FileError } from '../../project_files/load_config.ts';

/** What the cases of one process covered. */
export interface CoverPart {
  readonly paths: readonly string[];
  readonly serviceName: string | null;
  /** The options that select and seed cases. */
  readonly asked: object;
  /** Files that the scenario files depend on. */
  readonly files: readonly string[];
  readonly recordings: Readonly<Record<string, Recording>>;
  readonly cases: number;
  /** Names of failed cases, and the commands that run them again. */
  readonly failed: readonly { readonly name: string; readonly again: string }[];
}

/** The recording of each edge. */
export function recordingsOf(book: CoverageRecords): Record<string, Recording> {
  return Object.fromEntries(
    book.edges().map(({ first, covered }) => [first.edgeName, covered.recorder.recording()]),
  );
}

/** The edges of the parts, which are read again, with all that their cases covered. Throws FileError. */
export async function mergedEdges(parts: readonly CoverPart[]): Promise<readonly RecordedEdge[]> {
  const { paths, serviceName } = parts[0]!;
  const book = coverageRecords();
  const results = await runScenarios(paths, {
    selects: () => false,
    ...(serviceName !== null && { serviceName }),
    seed: null,
    repeat: 1,
    bail: false,
    lines: false,
    onResult: () => {},
    on: book.on,
  });
  if (results.some(({ diagnostics }) => hasErrors(diagnostics)))
    throw new FileError('the scenario files have errors now; `edgeproof test` shows them');
  // Listing the edges compiles all of their expressions, which have to be there to be counted.
  const edges = book.edges();
  for (const { first, covered } of edges)
    for (const { recordings } of parts) {
      const recording = recordings[first.edgeName];
      if (recording !== undefined) covered.recorder.preload(recording);
    }
  return edges;
}
