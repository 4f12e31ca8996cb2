import type { CaseResult, FileResult, Summary } from '../result.ts';

/** What every report says of where it comes from. */
export interface Origin {
  readonly version: string;
  /** The seed that was asked for; null when the files' own were used. */
  readonly seed: number | string | null;
}

/** A way to report: texts for its destination, as results come and at the end. */
export interface Reporter {
  readonly began?: (origin: Origin) => string;
  readonly ran?: (result: CaseResult) => string;
  readonly finished: (files: readonly FileResult[], summary: Summary, origin: Origin) => string;
}

export interface ReporterLook {
  readonly color: boolean;
}

export const REPORTERS = ['pretty', 'dot', 'json', 'ndjson', 'junit', 'tap', 'github', 'html'] as const;
export type ReporterName = (typeof REPORTERS)[number];
