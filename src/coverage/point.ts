import type { Span } from '../diagnostics/diagnostic.ts';

/** Kinds of coverage points; thresholds use these names. */
export const POINT_KINDS = [
  'hosts',
  'routes',
  'paths',
  'modules',
  'rules',
  'actions',
  'reasons',
  'addresses',
  'backends',
  'breakers',
  'outcomes',
  'mcdc',
] as const;

export type PointKind = (typeof POINT_KINDS)[number];

/** One thing that a case can cover. */
export interface CoveragePoint {
  /** Unique and stable for the same configuration. */
  readonly id: string;
  readonly kind: PointKind;
  /** JSON pointer in the edge file. */
  readonly pointer: string;
  /** The span within the string at the pointer; null for all of it. */
  readonly span: Span | null;
  /** Description of the event, as part of a sentence. */
  readonly message: string;
  /** Name of what the point is about: the match of a route, the type of an action, the id of a backend. */
  readonly about?: string;
  /** Pointers of the routes on which it can happen; empty for any. */
  readonly routes: readonly string[];
  /** Why it cannot happen, judging by the configuration alone. */
  readonly impossible: string | null;
  /** Why no case can cause it, though traffic can. Absent if a case can. */
  readonly untestable?: string | null;
  /** The test on a recording. */
  readonly seen: Seen;
}

/** How a recording shows whether a point was covered. */
type Seen =
  /** One of these keys was hit. */
  | { readonly by: 'hit'; readonly keys: readonly string[] }
  /** A request to this edge had a matching path; `isHost` tests requests that matched none of its routes. */
  | {
      readonly by: 'path';
      readonly edge: string;
      /** Every matching path begins with it. */
      readonly under: string;
      readonly test: (path: string) => boolean;
      readonly isHost: (host: string) => boolean;
    }
  /** A request to this edge had a matching host. */
  | { readonly by: 'host'; readonly edge: string; readonly test: (host: string) => boolean }
  | {
      readonly by: 'node';
      readonly expression: string;
      readonly node: number;
      readonly outcome: boolean;
    }
  | {
      readonly by: 'vectors';
      readonly expression: string;
      readonly decision: number;
      readonly condition: number;
      readonly count: number;
    };

/** Creates points with common members. */
export function pointsWith<Common extends Partial<CoveragePoint>>(
  common: Common,
  own: readonly (Omit<CoveragePoint, keyof Common> & Partial<Common>)[],
): CoveragePoint[] {
  return own.map((each) => Object.assign({}, common, each) as unknown as CoveragePoint);
}

/** Why a point is not covered. */
export interface Uncovered {
  readonly reason: 'cannot_happen' | 'not_in_cases' | 'never_reached' | 'short_circuited' | 'no_case';
  /** What in an expression kept this part from being evaluated. */
  readonly by?: 'operand' | 'condition';
  readonly message: string;
}

type Measured = Pick<MeasuredPoint, 'uncovered'>;

/** Whether a point does not count, because no case can cover it. */
export function isLeftOut({ uncovered }: Measured): boolean {
  return uncovered?.reason === 'cannot_happen' || uncovered?.reason === 'not_in_cases';
}

/** Whether a case could cover a point that is not covered. */
export function isOpen(point: Measured): boolean {
  return point.uncovered !== null && !isLeftOut(point);
}

export interface MeasuredPoint extends CoveragePoint {
  readonly hits: number;
  /** Null exactly if it was covered. */
  readonly uncovered: Uncovered | null;
}
