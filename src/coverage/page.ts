import { counted } from '../diagnostics/message_text.ts';
import type { CoveredEdge, CoverageReportData, ReportedPoint } from '../reports/data.ts';
import { reportPage } from '../reports/page.ts';
import { percentOf } from './measure.ts';
import { type MeasuredPoint, isLeftOut } from './point.ts';
import { type CoverageReport, leftOut, missedSentence, percentText, sentenceOf } from './report.ts';

/** A page with every edge: figures by kind, and the source with marks. */
export function coveragePage(reports: readonly CoverageReport[], version: string): string {
  return reportPage(coverageData(reports, version));
}

function coverageData(reports: readonly CoverageReport[], version: string): CoverageReportData {
  const tallies = reports.flatMap(({ coverage }) => coverage.tallies);
  const sum = (key: 'covered' | 'possible') => tallies.reduce((all, tally) => all + tally[key], 0);
  const totals = { covered: sum('covered'), possible: sum('possible') };
  return {
    kind: 'coverage',
    title: `Coverage of ${counted(reports.length, 'edge')}`,
    conclusion: `${percentText(percentOf(totals))} % of ${counted(totals.possible, 'point')} covered`,
    isGood: reports.every(({ missed }) => missed.length === 0),
    version,
    edges: reports.map(edgeOf),
  };
}

function edgeOf(report: CoverageReport): CoveredEdge {
  const { name, text, coverage, missed } = report;
  return {
    name,
    text,
    requests: coverage.requests,
    tallies: coverage.tallies.map((tally) => ({
      kind: tally.kind,
      covered: tally.covered,
      possible: tally.possible,
      percent: percentText(percentOf(tally)),
      leftOut: leftOut(tally),
    })),
    missed: missed.map(missedSentence),
    points: coverage.points.map((point) => pointOf(point, report)),
  };
}

function pointOf(point: MeasuredPoint, { locate, offered }: CoverageReport): ReportedPoint {
  const { id, kind, message, hits, uncovered } = point;
  const place = locate(point);
  return {
    kind,
    message,
    hits,
    state: uncovered === null ? 'hit' : isLeftOut(point) ? 'left out' : 'missed',
    why: uncovered === null ? null : sentenceOf(uncovered),
    offer: offered.get(id) ?? null,
    place: place === null ? null : { file: place.file, line: place.line, column: place.column },
  };
}
