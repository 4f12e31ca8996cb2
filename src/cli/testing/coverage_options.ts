import { InvalidArgumentError } from 'commander';
import { type Thresholds, readThresholds } from '../../coverage/thresholds.ts';
import { type AskedCoverage, readCoverageReport } from './coverage_report.ts';

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
