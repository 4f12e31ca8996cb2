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

/** Loads a reporter: most runs need one of them. */
export async function loadReporter(name: ReporterName, look: ReporterLook): Promise<Reporter> {
  switch (name) {
    case 'pretty':
      return (await import('./pretty.ts')).prettyReporter(look);
    case 'dot':
      return (await import('./pretty.ts')).dotReporter(look);
    case 'json':
      return (await import('./data.ts')).jsonReporter();
    case 'ndjson':
      return (await import('./data.ts')).ndjsonReporter();
    case 'junit':
      return (await import('./junit.ts')).junitReporter();
    case 'tap':
      return (await import('./tap.ts')).tapReporter();
    case 'github':
      return (await import('./github.ts')).githubReporter();
    case 'html':
      return (await import('./html.ts')).htmlReporter();
  }
}
