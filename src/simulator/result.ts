import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { LocatedStep } from '../edge/explain.ts';
import type { ExpressionValues } from './expect/expression_values.ts';
import { shellQuoted } from '../diagnostics/message_text.ts';

/** One unmet expectation. */
export interface Mismatch {
  /** The checked value, such as `status` or `upstream.headers.x-edge`. */
  readonly what: string;
  readonly expected: string;
  readonly received: string;
  /** JSON pointer of the expectation in the scenario file. */
  readonly pointer: string;
  /** The nearest value, if that helps. */
  readonly near?: string;
}

/** A mismatch and the line of its expectation; 0 without a text. */
interface LocatedMismatch extends Mismatch {
  readonly line: number;
}

/** The actual value for an expectation `snapshot`. */
export interface Snapshot {
  /** JSON pointer of the expectation. */
  readonly pointer: string;
  readonly value: unknown;
}

/** The result of one case: plain data, so that a worker can send it. */
export interface CaseResult {
  readonly file: string;
  readonly name: string;
  /** Line of the case in its file, from 1; 0 without a source. */
  readonly line: number;
  readonly tags: readonly string[];
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Reason for skipping. */
  readonly skipped: string | null;
  /** Real time. */
  readonly tookMs: number;
  readonly requests: number;
  readonly seed: number | string;
  readonly mismatches: readonly LocatedMismatch[];
  /** The value for each expectation `snapshot`. */
  readonly snapshots: readonly Snapshot[];
  /** Table row of the case; null without a table. */
  readonly tableRow: { readonly index: number; readonly of: number } | null;
  readonly explained: {
    readonly decidedBy: LocatedStep;
    readonly steps: readonly LocatedStep[];
    readonly request: string;
    /** Values of the parts of every evaluated expression. */
    readonly values: readonly ExpressionValues[];
  } | null;
  /** The smallest change after which the case would pass. */
  readonly near: string | null;
  /** A failing timeline reduced to its smallest failing form, as a case of a scenario file. */
  readonly shrunk: string | null;
  /** Exact or counted shares of a sample. */
  readonly shares: Readonly<Record<string, string>> | null;
}

export interface FileResult {
  readonly file: string;
  readonly cases: readonly CaseResult[];
  /** With errors, no case of the file was run. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether all cases of the file were selected. */
  readonly isWhole: boolean;
}

/** The totals of a run. */
export interface Summary {
  readonly files: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Files that could not be run. */
  readonly invalid: number;
  readonly requests: number;
  readonly tookMs: number;
}

/** Counts the results of files. */
export function summaryOf(files: readonly FileResult[], tookMs: number): Summary {
  const cases = files.flatMap((file) => file.cases);
  const count = (status: CaseResult['status']) => cases.filter((each) => each.status === status).length;
  return {
    files: files.length,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    invalid: files.filter(({ diagnostics }) => diagnostics.some(({ severity }) => severity === 'error'))
      .length,
    requests: cases.reduce((sum, { requests }) => sum + requests, 0),
    tookMs,
  };
}

/** The command that runs only this case. */
export function rerunCommand({ file, name, seed }: CaseResult): string {
  const seeded = typeof seed === 'string' && seed.includes('+') ? ` --seed ${shellQuoted(seed)}` : '';
  return `edgeproof test ${shellQuoted(file)} --filter ${shellQuoted(`=${name}`)}${seeded}`;
}
