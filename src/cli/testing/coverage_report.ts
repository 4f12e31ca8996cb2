import { InvalidArgumentError } from 'commander';
import { type Thresholds, readThresholds } from '../../coverage/thresholds.ts';

const COVERAGE_REPORTERS = ['text', 'json', 'lcov', 'html'] as const;

export type CoverageReporter = (typeof COVERAGE_REPORTERS)[number];

/** A report of coverage that was asked for. */
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
      problem: `there is no report '${name}' of coverage; there are ${COVERAGE_REPORTERS.join(', ')}`,
    };
  return { name: known, path: equals < 0 ? null : text.slice(equals + 1) };
}

/** Adds a report of coverage to those that were asked for. */
export function addCoverage(text: string, before: readonly AskedCoverage[]): readonly AskedCoverage[] {
  const read = readCoverageReport(text);
  if ('problem' in read) throw new InvalidArgumentError(`${read.problem}.`);
  return [...before, read];
}

/** Adds thresholds to those that were given before. */
export function addThresholds(text: string, before: Thresholds | undefined): Thresholds {
  const read = readThresholds(text);
  if ('problem' in read) throw new InvalidArgumentError(`${read.problem}.`);
  return { ...before, ...read };
}
