import { type CoverageReport, missedSentence } from '../../coverage/report.ts';
import type { Thresholds } from '../../coverage/thresholds.ts';
import { growHeapSlowly } from '../heap_limit.ts';
import { packageVersion } from '../version.ts';
import { writeText } from '../write_file.ts';
import type { AskedCoverage, CoverageReporter } from './coverage_report.ts';
import { type RecordedEdge, reportOf } from '../../project_files/coverage_records.ts';
import { stderr, stdout } from '../output.ts';

/** How coverage is reported. */
export interface CoverageOptions {
  readonly reporters: readonly AskedCoverage[];
  readonly thresholds: Thresholds;
  /** File for suggested cases. */
  readonly emitCases: string | null;
  /** Whether to search for such cases. */
  readonly isOffering: boolean;
}

/** Writes all requested coverage reports; whether all thresholds were reached. */
export async function printCoverage(
  edges: readonly RecordedEdge[],
  { reporters, thresholds, emitCases, isOffering }: CoverageOptions,
): Promise<boolean> {
  const asked = reporters.length === 0 ? [{ name: 'text', path: null } as const] : reporters;
  const offers =
    isOffering || emitCases !== null ? await offersOf(edges, emitCases) : edges.map(() => new Map());
  const reports = edges.map((recorded, index) => reportOf(recorded, thresholds, offers[index]!));
  for (const { name, path } of asked) {
    const text = await rendered(name, reports);
    if (path === null) stdout.write(text);
    else writeText(path, text);
  }
  const missed = reports.flatMap((report) => report.missed);
  const isTold = asked.some(({ name, path }) => name === 'text' && path === null);
  if (!isTold) for (const each of missed) stderr.write(`${missedSentence(each)}\n`);
  return missed.length === 0;
}

/** Searches for cases that increase coverage, and writes them if requested. */
async function offersOf(
  edges: readonly RecordedEdge[],
  path: string | null,
): Promise<readonly CoverageReport['offered'][]> {
  growHeapSlowly();
  const { offeredCases } = await import('../../project_files/offered_cases.ts');
  const { writeCases } = await import('./written_cases.ts');
  const offers = await Promise.all(
    edges.map(async (recorded) => ({ recorded, emitted: await offeredCases(recorded, path !== null) })),
  );
  if (path !== null) await writeCases(offers, path);
  return offers.map(({ emitted }) => emitted.offered);
}

async function rendered(name: CoverageReporter, reports: readonly CoverageReport[]): Promise<string> {
  switch (name) {
    case 'text': {
      const { coverageText } = await import('../../coverage/report.ts');
      return reports.map((report) => coverageText(report)).join('\n');
    }
    case 'json': {
      const { coverageJson } = await import('../../coverage/report.ts');
      return coverageJson(reports, packageVersion());
    }
    case 'lcov':
      return (await import('../../coverage/lcov.ts')).coverageLcov(reports);
    case 'html':
      return (await import('../../coverage/page.ts')).coveragePage(reports, packageVersion());
  }
}
