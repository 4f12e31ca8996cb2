import type { PointPlace } from './places.ts';
import { type MeasuredPoint, type PointKind, isLeftOut } from './point.ts';
import type { CoverageReport } from './report.ts';

/** Kinds of points that count as lines; all others count as branches of a line. */
const OF_LINES: ReadonlySet<PointKind> = new Set(['hosts', 'routes', 'modules', 'rules', 'actions']);

/** A point with its place in a file. */
export interface PlacedPoint {
  readonly point: MeasuredPoint;
  readonly place: PointPlace;
}

/** Possible points, by file. */
export function placedPoints({ coverage, locate }: CoverageReport): Map<string, PlacedPoint[]> {
  const files = new Map<string, PlacedPoint[]>();
  for (const point of coverage.points) {
    const place = locate(point);
    if (place === null || isLeftOut(point)) continue;
    const own = files.get(place.file) ?? [];
    own.push({ point, place });
    files.set(place.file, own);
  }
  return files;
}

/**
 * Coverage in lcov's trace format: lines for routes, modules, rules and actions, with the lowest count of each
 * line; rules as functions; all other possible points as branches of their line.
 */
export function coverageLcov(reports: readonly CoverageReport[]): string {
  return reports
    .flatMap((report) => Array.from(placedPoints(report), ([file, points]) => fileRecord(file, points)))
    .join('');
}

function fileRecord(file: string, points: readonly PlacedPoint[]): string {
  const lines = new Map<number, number>();
  for (const { point, place } of points) {
    if (!OF_LINES.has(point.kind)) continue;
    lines.set(place.line, Math.min(lines.get(place.line) ?? Infinity, point.hits));
  }
  const functions = points.filter(({ point }) => point.kind === 'rules');
  const branches = points.filter(({ point }) => !OF_LINES.has(point.kind));
  const records = ['TN:edgeproof', `SF:${file}`];
  for (const { point, place } of functions) records.push(`FN:${place.line},${named(point)}`);
  for (const { point } of functions) records.push(`FNDA:${point.hits},${named(point)}`);
  records.push(`FNF:${functions.length}`, `FNH:${countHit(functions)}`);
  const ofLine = new Map<number, number>();
  for (const { point, place } of branches) {
    const branch = ofLine.get(place.line) ?? 0;
    ofLine.set(place.line, branch + 1);
    records.push(`BRDA:${place.line},0,${branch},${point.hits === 0 ? '-' : point.hits}`);
  }
  records.push(`BRF:${branches.length}`, `BRH:${countHit(branches)}`);
  const sorted = [...lines].sort(([one], [other]) => one - other);
  for (const [line, hits] of sorted) records.push(`DA:${line},${hits}`);
  records.push(`LF:${sorted.length}`, `LH:${sorted.filter(([, hits]) => hits > 0).length}`);
  return `${records.join('\n')}\nend_of_record\n`;
}

function countHit(points: readonly PlacedPoint[]): number {
  return points.filter(({ point }) => point.hits > 0).length;
}

/** The pointer distinguishes rules with the same name; commas and blanks end a name. */
function named({ pointer }: MeasuredPoint): string {
  return pointer.replaceAll(/[\s,]/g, '_');
}
