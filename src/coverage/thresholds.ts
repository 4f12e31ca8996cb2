import { suggest } from '../diagnostics/suggest.ts';
import type { Coverage } from './coverage.ts';
import { percentOf } from './measure.ts';
import { POINT_KINDS, type PointKind } from './point.ts';

/** Minimum percentages by kind; `all` counts every point. */
export type Thresholds = Readonly<Partial<Record<PointKind | 'all', number>>>;

/** A missed threshold. */
export interface Missed {
  readonly name: PointKind | 'all';
  readonly wanted: number;
  readonly percent: number;
}

const NAMES: readonly (PointKind | 'all')[] = ['all', ...POINT_KINDS];

/** Parses `rules=100,mcdc=90`; a single number applies to `all`. */
export function readThresholds(text: string): Thresholds | { readonly problem: string } {
  const found: Partial<Record<PointKind | 'all', number>> = {};
  for (const part of text.split(',')) {
    const [left = '', right] = part.split('=', 2).map((each) => each.trim());
    const name = right === undefined ? 'all' : NAMES.find((each) => each === left);
    const percent = Number(right ?? left);
    if (name === undefined) {
      const near = suggest(left, NAMES);
      const meant = near === undefined ? `there are ${NAMES.join(', ')}.` : `did you mean '${near}'?`;
      return { problem: `'${left}' is not a kind of coverage; ${meant}` };
    }
    if ((right ?? left) === '' || !(percent >= 0 && percent <= 100))
      return { problem: `'${part.trim()}' does not have the form rules=100, with a number up to 100.` };
    found[name] = percent;
  }
  return found;
}

/** The thresholds that a coverage does not reach. Kinds without points are always reached. */
export function missedThresholds({ tallies }: Coverage, wanted: Thresholds): Missed[] {
  return NAMES.flatMap((name): Missed[] => {
    const least = wanted[name];
    if (least === undefined) return [];
    const own = name === 'all' ? tallies : tallies.filter(({ kind }) => kind === name);
    const percent = percentOf({
      covered: own.reduce((sum, { covered }) => sum + covered, 0),
      possible: own.reduce((sum, { possible }) => sum + possible, 0),
    });
    return percent < least ? [{ name, wanted: least, percent }] : [];
  });
}
