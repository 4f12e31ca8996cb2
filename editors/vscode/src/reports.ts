/** What `test --json` and `cover --json` print, as far as it is read here. */

export interface TestReport {
  readonly files: readonly TestedFile[];
}

export interface TestedFile {
  readonly file: string;
  readonly cases: readonly TestedCase[];
  readonly findings: readonly Finding[];
}

export interface TestedCase {
  readonly name: string;
  /** From 1. */
  readonly line: number;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly took_ms: number;
  readonly mismatches?: readonly {
    readonly what: string;
    readonly expected: string;
    readonly received: string;
    readonly line: number;
  }[];
  readonly decided_by?: {
    readonly module: string;
    readonly code: string;
    readonly message: string;
    readonly place?: { readonly file: string; readonly line: number; readonly column: number } | null;
  } | null;
  readonly message?: string;
}

export interface Finding {
  readonly file: string | null;
  readonly range: { readonly start: Place; readonly end: Place } | null;
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly notes: readonly string[];
}

/** From 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

export interface CoverReport {
  readonly edges: readonly { readonly points: readonly CoverPoint[] }[];
}

export interface CoverPoint {
  readonly message: string;
  readonly file: string | null;
  readonly line: number;
  readonly column: number;
  readonly hits: number;
  readonly reason?: string;
}
