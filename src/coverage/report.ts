import { printable } from '../diagnostics/display.ts';
import type { Coverage } from './coverage.ts';
import { type Tally, percentOf } from './measure.ts';
import type { LocatePoint, PointPlace } from './places.ts';
import { type MeasuredPoint, type Uncovered, isOpen } from './point.ts';
import type { Missed } from './thresholds.ts';
import { counted } from '../diagnostics/message_text.ts';

export interface CoverageReport {
  /** The file of the edge, or of the scenario that holds it. */
  readonly name: string;
  /** The source of that file; null if the edge comes from a program. */
  readonly text: string | null;
  readonly coverage: Coverage;
  readonly locate: LocatePoint;
  /** A case in one line for each uncovered point, by point id. */
  readonly offered: ReadonlyMap<string, string>;
  readonly missed: readonly Missed[];
}

const REASONS: Readonly<Record<Uncovered['reason'], string>> = {
  cannot_happen: 'cannot happen',
  not_in_cases: 'not in cases',
  never_reached: 'never reached',
  short_circuited: 'short-circuited',
  no_case: 'no case',
};

/** Why a point was not covered, in one line. */
export function sentenceOf({ reason, by, message }: Uncovered): string {
  // A sentence about an operand says by itself what short-circuited.
  return reason === 'no_case' || reason === 'never_reached' || by === 'operand'
    ? message
    : `${REASONS[reason]}: ${message}`;
}

/** A table by kind, then every uncovered point with its place, the reason, and a case that would cover it. */
export function coverageText(report: CoverageReport): string {
  const { name, coverage } = report;
  const lines = [`${name}  (${counted(coverage.requests, 'request')})`, ''];
  lines.push(`  ${'kind'.padEnd(12)}${'covered'.padStart(12)}${'percent'.padStart(10)}   left out`);
  for (const tally of coverage.tallies) {
    const share = `${tally.covered}/${tally.possible}`;
    const percent = `${percentText(percentOf(tally))} %`;
    const left = leftOut(tally);
    lines.push(
      `  ${tally.kind.padEnd(12)}${share.padStart(12)}${percent.padStart(10)}${left && `   ${left}`}`,
    );
  }
  const parts = {
    'not covered': coverage.points.filter(isOpen),
    'cannot happen': coverage.points.filter(({ uncovered }) => uncovered?.reason === 'cannot_happen'),
    'not in cases': coverage.points.filter(({ uncovered }) => uncovered?.reason === 'not_in_cases'),
  };
  for (const [title, points] of Object.entries(parts)) {
    if (points.length > 0) lines.push('', `  ${title}`);
    for (const point of points) lines.push(...pointLines(point, report));
  }
  for (const missed of report.missed) lines.push('', `  ${missedSentence(missed)}`);
  return `${lines.map((line) => printable(line)).join('\n')}\n`;
}

/** The points of a kind that do not count, in words; empty for none. */
export function leftOut({ impossible, untestable }: Tally): string {
  const parts = [
    impossible === 0 ? '' : `${impossible} cannot happen`,
    untestable === 0 ? '' : `${untestable} not in cases`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

export function missedSentence({ name, wanted, percent }: Missed): string {
  return `threshold missed: ${name} is ${percentText(percent)} %, wanted ${wanted} %`;
}

/** Never 100 if something is missing. */
export function percentText(percent: number): string {
  return percent === 100 ? '100' : (Math.floor(percent * 10) / 10).toFixed(1);
}

function pointLines(point: MeasuredPoint, { locate, offered }: CoverageReport): string[] {
  const place = locate(point);
  const at = place === null ? point.pointer : `${place.file}:${place.line}:${place.column}`;
  const lines = [
    `    ${point.kind.padEnd(10)} ${point.message}  (${at})`,
    `               ${sentenceOf(point.uncovered!)}`,
  ];
  const offer = offered.get(point.id);
  if (offer !== undefined) lines.push(`               try: ${offer}`);
  return lines;
}

/** One JSON document; names and meanings are stable across versions. */
export function coverageJson(reports: readonly CoverageReport[], version: string): string {
  const document = {
    edgeproof: version,
    edges: reports.map(({ name, coverage, locate, offered, missed }) => ({
      edge: name,
      requests: coverage.requests,
      summary: Object.fromEntries(
        coverage.tallies.map((tally) => [
          tally.kind,
          {
            covered: tally.covered,
            possible: tally.possible,
            cannot_happen: tally.impossible,
            not_in_cases: tally.untestable,
            percent: percentOf(tally),
          },
        ]),
      ),
      points: coverage.points.map((point) => pointData(point, locate(point), offered)),
      missed,
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function pointData(
  { id, kind, message, pointer, span, hits, uncovered }: MeasuredPoint,
  place: PointPlace | null,
  offered: ReadonlyMap<string, string>,
): object {
  return {
    id,
    kind,
    message,
    pointer,
    ...(span !== null && { span }),
    ...(place !== null && { file: place.file, line: place.line, column: place.column }),
    hits,
    covered: uncovered === null,
    ...(uncovered !== null && { reason: uncovered.reason, why: uncovered.message }),
    ...(offered.has(id) && { offered: offered.get(id) }),
  };
}
