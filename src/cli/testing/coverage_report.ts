import { InvalidArgumentError } from 'commander';
import { type Thresholds, readThresholds } from '../../coverage/thresholds.ts';

export const COVERAGE_REPORTERS = ['text', 'json', 'lcov', 'html'] as const;

export type CoverageReporter = (typeof COVERAGE_REPORTERS)[number];

/** A requested coverage report. */
export interface AskedCoverage {
  readonly name: CoverageReporter;
  readonly path: string | null;
}

/** Reads `name` or `name=path`. */
function readCoverageReport(text: string): AskedCoverage | { readonly problem: string } {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const known = COVERAGE_REPORTERS.find((each) => each === name);
  if (known === undefined)
    return {
      problem: `there is no coverage report '${name}'; choose from ${COVERAGE_REPORTERS.join(', ')}`,
    };
  return { name: known, path: equals < 0 ? null : text.slice(equals + 1) };
}

/** Adds a coverage report to those already requested. */
export function addCoverage(text: string, before: readonly AskedCoverage[]): readonly AskedCoverage[] {
  const read = readCoverageReport(text);
  if ('problem' in read) throw new InvalidArgumentError(`${read.problem}.`);
  return [...before, read];
}

/** Adds thresholds to those already given. */
export function addThresholds(text: string, before: Thresholds | undefined): Thresholds {
  const read = readThresholds(text);
  if ('problem' in read) throw new InvalidArgumentError(read.problem);
  return { ...before, ...read };
}
