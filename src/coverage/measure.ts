import { type CoveragePoint, type MeasuredPoint, POINT_KINDS, type PointKind } from './point.ts';
import type { Recording } from './recorder.ts';
import { shownConditions } from './vectors.ts';
import { type WhySetting, whyUncovered } from './why.ts';

/** The points of one kind: total, possible and covered. */
export interface Tally {
  readonly kind: PointKind;
  readonly covered: number;
  /** Without those that cannot happen, or not in cases. */
  readonly possible: number;
  readonly impossible: number;
  readonly untestable: number;
}

/** Reads the coverage from a recording, with the reason for each uncovered point. */
export function measure(points: readonly CoveragePoint[], setting: WhySetting): MeasuredPoint[] {
  const hits = hitCounter(setting.recording);
  return points.map((point) => {
    const count = hits(point);
    return Object.assign({}, point, {
      hits: count,
      uncovered: count > 0 ? null : whyUncovered(point, setting),
    });
  });
}

/** Counts how often a recording covers a point. */
function hitCounter({ hits, expressions }: Recording): (point: CoveragePoint) => number {
  const texts = new Map<string, [string, number][]>();
  const textsOf = (prefix: string): [string, number][] => {
    let found = texts.get(prefix);
    if (found === undefined) {
      found = Object.entries(hits)
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, count]) => [key.slice(prefix.length), count]);
      texts.set(prefix, found);
    }
    return found;
  };
  const shown = new Map<string, readonly boolean[]>();
  const sumOf = (prefix: string, test: (text: string) => boolean) =>
    textsOf(prefix).reduce((sum, [text, count]) => (test(text) ? sum + count : sum), 0);
  return ({ seen }) => {
    switch (seen.by) {
      case 'hit':
        return seen.keys.reduce((sum, key) => sum + (hits[key] ?? 0), 0);
      case 'path':
        return (
          sumOf(`path ${seen.edge} `, seen.test) +
          sumOf('path ?', (text) => {
            const space = text.indexOf(' ');
            return seen.isHost(text.slice(0, space)) && seen.test(text.slice(space + 1));
          })
        );
      case 'host':
        return sumOf(`host ${seen.edge} `, seen.test);
      case 'node': {
        const record = expressions[seen.expression];
        return (seen.outcome ? record?.yes : record?.no)?.[seen.node] ?? 0;
      }
      case 'vectors': {
        const key = `${seen.expression} ${seen.decision}`;
        let conditions = shown.get(key);
        if (conditions === undefined) {
          const vectors = expressions[seen.expression]?.decisions[seen.decision] ?? [];
          shown.set(key, (conditions = shownConditions(vectors, seen.count)));
        }
        return conditions[seen.condition] === true ? 1 : 0;
      }
    }
  };
}

/** Counts points by kind, in the order of the kinds; kinds without points are omitted. */
export function tallies(points: readonly MeasuredPoint[]): Tally[] {
  return POINT_KINDS.flatMap((kind) => {
    const own = points.filter((point) => point.kind === kind);
    return own.length === 0 ? [] : [tallyOf(kind, own)];
  });
}

function tallyOf(kind: PointKind, points: readonly MeasuredPoint[]): Tally {
  const covered = points.filter(({ uncovered }) => uncovered === null).length;
  const impossible = points.filter(({ uncovered }) => uncovered?.because === 'cannot_happen').length;
  const untestable = points.filter(({ uncovered }) => uncovered?.because === 'not_in_cases').length;
  return { kind, covered, possible: points.length - impossible - untestable, impossible, untestable };
}

/** Covered share of the possible points, 0 to 100; 100 if there are none. */
export function percentOf({ covered, possible }: Pick<Tally, 'covered' | 'possible'>): number {
  return possible === 0 ? 100 : (covered / possible) * 100;
}
