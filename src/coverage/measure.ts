import { type CoveragePoint, type MeasuredPoint, POINT_KINDS, type PointKind, isOpen } from './point.ts';
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
  const measured = measurer(setting);
  return points.map((point) => Object.assign({}, point, measured(point)));
}

/** Returns a function that tells whether a case could cover a point, and none does yet. */
export function isOpenIn(setting: WhySetting): (point: CoveragePoint) => boolean {
  const measured = measurer(setting);
  return (point) => isOpen(measured(point));
}

function measurer(setting: WhySetting): (point: CoveragePoint) => Pick<MeasuredPoint, 'hits' | 'uncovered'> {
  const hits = hitCounter(setting.recording);
  return (point) => {
    const count = hits(point);
    return { hits: count, uncovered: count > 0 ? null : whyUncovered(point, setting) };
  };
}

/** A host or a path that cases had, and how often. */
interface CountedText {
  readonly text: string;
  readonly count: number;
  /** The host of a path that matched no route; otherwise empty. */
  readonly host: string;
}

/** Counts how often a recording covers a point. */
export function hitCounter({ hits, expressions }: Recording): (point: CoveragePoint) => number {
  const texts = new Map<string, readonly CountedText[]>();
  const textsOf = (prefix: string): readonly CountedText[] => {
    let found = texts.get(prefix);
    if (found === undefined) texts.set(prefix, (found = countedTexts(hits, prefix)));
    return found;
  };
  const shown = new Map<string, readonly boolean[]>();
  const sumOf = (list: readonly CountedText[], test: (each: CountedText) => boolean) =>
    list.reduce((sum, each) => (test(each) ? sum + each.count : sum), 0);
  return ({ seen }) => {
    switch (seen.by) {
      case 'hit':
        return seen.keys.reduce((sum, key) => sum + (hits[key] ?? 0), 0);
      case 'path':
        return (
          sumOf(beginningWith(textsOf(`path ${seen.edge} `), seen.under), ({ text }) => seen.test(text)) +
          sumOf(
            beginningWith(textsOf(NO_ROUTE), seen.under),
            ({ host, text }) => seen.isHost(host) && seen.test(text),
          )
        );
      case 'host':
        return sumOf(textsOf(`host ${seen.edge} `), ({ text }) => seen.test(text));
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

/** The beginning of the keys of paths that matched no route. */
const NO_ROUTE = 'path ?';

/** What was counted with keys that begin with `prefix`, sorted by text. */
function countedTexts(hits: Recording['hits'], prefix: string): readonly CountedText[] {
  const found = Object.entries(hits).flatMap(([key, count]): CountedText[] => {
    if (!key.startsWith(prefix)) return [];
    const space = prefix === NO_ROUTE ? key.indexOf(' ', prefix.length) : prefix.length - 1;
    return [{ text: key.slice(space + 1), count, host: key.slice(prefix.length, space) }];
  });
  return found.sort((one, other) => (one.text < other.text ? -1 : one.text > other.text ? 1 : 0));
}

/** The texts of a sorted list that begin with a text: there are as many searches as paths of routes. */
function beginningWith(sorted: readonly CountedText[], beginning: string): readonly CountedText[] {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.text < beginning) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < sorted.length && sorted[end]!.text.startsWith(beginning)) end++;
  return sorted.slice(low, end);
}

/** Counts points by kind, in the order of the kinds; kinds without points are omitted. */
export function tallies(points: readonly MeasuredPoint[]): Tally[] {
  const byKind = Map.groupBy(points, ({ kind }) => kind);
  return POINT_KINDS.flatMap((kind) => {
    const own = byKind.get(kind);
    return own === undefined ? [] : [tallyOf(kind, own)];
  });
}

function tallyOf(kind: PointKind, points: readonly MeasuredPoint[]): Tally {
  const covered = points.filter(({ uncovered }) => uncovered === null).length;
  const impossible = points.filter(({ uncovered }) => uncovered?.reason === 'cannot_happen').length;
  const untestable = points.filter(({ uncovered }) => uncovered?.reason === 'not_in_cases').length;
  return { kind, covered, possible: points.length - impossible - untestable, impossible, untestable };
}

/** Covered share of the possible points, 0 to 100; 100 if there are none. */
export function percentOf({ covered, possible }: Pick<Tally, 'covered' | 'possible'>): number {
  return possible === 0 ? 100 : (covered / possible) * 100;
}
