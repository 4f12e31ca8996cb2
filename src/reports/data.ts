/** What the reports contain: plain data, which a saved report contains. Each verb writes its result in this form. */
import type { LocatedStep, Place } from '../edge/explain.ts';

interface Head {
  /** What was run, such as the name of a file. */
  readonly title: string;
  /** The result in a sentence. */
  readonly conclusion: string;
  readonly isGood: boolean;
  readonly version: string;
}

/** A figure and what it says. */
export type Figure = readonly [value: string, meaning: string];

/** A label and a text: shown as a row. */
export type LabelledText = readonly [label: string, text: string];

/** The results of cases. */
export interface CasesReport extends Head {
  readonly kind: 'cases';
  readonly figures: readonly Figure[];
  readonly files: readonly ReportedFile[];
  /** Passed cases whose explanations were left out for their number. */
  readonly unexplained: number;
}

export interface ReportedFile {
  readonly file: string;
  readonly findings: readonly ReportedFinding[];
  readonly cases: readonly ReportedCase[];
}

export interface ReportedFinding {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly place: string | null;
  readonly notes: readonly string[];
}

export interface ReportedCase {
  readonly name: string;
  readonly line: number;
  readonly tags: readonly string[];
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped, or empty. */
  readonly skipped: string;
  readonly tookMs: number;
  readonly mismatches: readonly {
    readonly what: string;
    readonly expected: string;
    readonly received: string;
    readonly line: number;
    readonly near: string | null;
  }[];
  readonly near: string | null;
  /** Counted shares of a sample. */
  readonly shares: readonly LabelledText[];
  readonly explained: ReportedExplanation | null;
  /** All that the terminal would print; null where nothing failed. */
  readonly details: string | null;
  /** The command that runs it again. */
  readonly rerun: string;
}

interface ReportedExplanation {
  readonly request: string;
  readonly steps: readonly LocatedStep[];
  /** Index of the step that decided. */
  readonly decidedBy: number;
  readonly values: readonly {
    readonly pointer: string;
    readonly parts: readonly { readonly text: string; readonly value: string }[];
  }[];
}

/** What cases leave untested. */
export interface CoverageReportData extends Head {
  readonly kind: 'coverage';
  readonly edges: readonly CoveredEdge[];
}

export interface CoveredEdge {
  readonly name: string;
  readonly requests: number;
  readonly tallies: readonly {
    readonly kind: string;
    readonly covered: number;
    readonly possible: number;
    readonly percent: string;
    readonly leftOut: string;
  }[];
  /** Thresholds that were missed, in sentences. */
  readonly missed: readonly string[];
  /** The source; null if the edge comes from a program. */
  readonly text: string | null;
  readonly points: readonly ReportedPoint[];
}

export interface ReportedPoint {
  readonly kind: string;
  readonly message: string;
  readonly state: 'hit' | 'missed' | 'left out';
  readonly hits: number;
  /** Why it was not covered. */
  readonly why: string | null;
  /** A case that would cover it. */
  readonly offer: string | null;
  readonly place: Place | null;
}

/** A line of a plot; null for no value. */
export interface ReportedSeries {
  readonly name: string;
  /** For the legend; empty for none. */
  readonly total: string;
  /** A custom property of the page, such as `--good`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

type PlotUnit = 'per second' | 'ms' | 'ns' | 'count';

export interface ReportedPlot {
  readonly title: string;
  readonly note: string;
  readonly form: 'lines' | 'logarithmic' | 'stack' | 'bars';
  readonly unit: PlotUnit;
  /** Where each value is: seconds, or whatever `across` says. */
  readonly at: readonly number[];
  readonly across: 'seconds' | 'slices' | 'ns';
  readonly series: readonly ReportedSeries[];
  readonly marks: readonly { readonly at: number; readonly message: string }[];
}

/** States over time, as a strip. */
interface ReportedStrip {
  readonly title: string;
  readonly states: readonly { readonly name: string; readonly color: string }[];
  /** Index of the state of each part; null for none. */
  readonly parts: readonly (number | null)[];
}

/** Plots and tables: of a simulation, or of a benchmark. */
export interface FiguresReport extends Head {
  readonly kind: 'figures';
  readonly figures: readonly Figure[];
  readonly tables: readonly ReportedTable[];
  readonly plots: readonly ReportedPlot[];
  readonly strips: readonly ReportedStrip[];
}

export interface ReportedTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A list of findings in groups: changes, survivors, causes. */
export interface ListReport extends Head {
  readonly kind: 'list';
  readonly figures: readonly Figure[];
  readonly tables: readonly ReportedTable[];
  readonly groups: readonly ReportedGroup[];
}

export type Tone = 'good' | 'bad' | 'odd' | 'plain';

export interface ReportedGroup {
  readonly name: string;
  readonly tone: Tone;
  /** How many there are with those that are not listed. */
  readonly count: number;
  readonly items: readonly {
    readonly title: string;
    readonly rows: readonly LabelledText[];
    /** Whether its rows are shown before it is opened. */
    readonly isOpen: boolean;
  }[];
}

export type Report = CasesReport | CoverageReportData | FiguresReport | ListReport;
