import type { CaseResult, FileResult, Summary } from '../result.ts';

/** The header data of every report. */
export interface Origin {
  readonly version: string;
  /** The seed given on the command line; null if the files' own were used. */
  readonly seed: number | string | null;
}

/** A reporter: text for its destination, with each result and at the end. */
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
