import type { Span } from '../../diagnostics/diagnostic.ts';

/** What can be covered; thresholds are named after these. */
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

/** One thing that a case can make happen. */
export interface CoveragePoint {
  /** Unique, and the same for the same configuration. */
  readonly id: string;
  readonly kind: PointKind;
  /** JSON pointer in the edge file of what it is about. */
  readonly pointer: string;
  /** The stretch of the text at the pointer; null for all of it. */
  readonly span: Span | null;
  /** What happens when it is covered, as part of a sentence. */
  readonly says: string;
  /** Pointers of the routes on which it can happen; empty: any. */
  readonly routes: readonly string[];
  /** Why it cannot happen, as far as the configuration alone tells. */
  readonly impossible: string | null;
  /** What is asked of a recording. */
  readonly seen: Seen;
}

/** How a recording tells whether a point was covered. */
export type Seen =
  /** One of these keys was hit. */
  | { readonly by: 'hit'; readonly keys: readonly string[] }
  /** A request to this edge had such a path; `isHost` tells requests that no route of it took. */
  | {
      readonly by: 'path';
      readonly edge: string;
      readonly test: (path: string) => boolean;
      readonly isHost: (host: string) => boolean;
    }
  /** A request to this edge had such a host. */
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

/** Points that have something in common. */
export function pointsWith<Common extends Partial<CoveragePoint>>(
  common: Common,
  own: readonly (Omit<CoveragePoint, keyof Common> & Partial<Common>)[],
): CoveragePoint[] {
  return own.map((each) => Object.assign({}, common, each) as unknown as CoveragePoint);
}

/** Why a point is not covered. */
export interface Uncovered {
  readonly because: 'cannot_happen' | 'never_reached' | 'short_circuited' | 'no_case';
  readonly says: string;
}

export interface MeasuredPoint extends CoveragePoint {
  readonly hits: number;
  /** Null exactly when it was covered. */
  readonly uncovered: Uncovered | null;
}
