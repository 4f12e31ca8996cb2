import { InvalidArgumentError } from 'commander';
import { type Thresholds, readThresholds } from '../../coverage/thresholds.ts';
import { type AskedCoverage, readCoverageReport } from './coverage_report.ts';

/** Adds a coverage report to those already requested. */
export function addCoverage(text: string, before: readonly AskedCoverage[]): readonly AskedCoverage[] {
  const read = readCoverageReport(text);
  if ('problem' in read) throw new InvalidArgumentError(`${read.problem}.`);
  return [...before, read];
}

/** Adds thresholds to those already given. */
export function addThresholds(text: string, before: Thresholds | undefined): Thresholds {
  const read = readThresholds(text);
  if ('problem' in read) throw new InvalidArgumentError(`${read.problem}.`);
  return { ...before, ...read };
}
