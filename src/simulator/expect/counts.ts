import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Report } from '../../diagnostics/report.ts';
import type { ScenarioCode } from '../document/codes.ts';
import type { ExpectationConfig } from '../document/schema.ts';
import type { Mismatch } from '../result.ts';
import { type ValueCheck, compileValue } from './values.ts';

/** Expected numbers of requests by status. */
export type Counts = ReadonlyMap<string, ValueCheck>;

/** Compiles `counts`: a number, or conditions, for each status; invalid ones are reported. */
export function compileCounts(
  config: ExpectationConfig['counts'],
  pointer: string,
  report: Report<ScenarioCode>,
): Counts | null {
  if (config === undefined) return null;
  const counts = new Map<string, ValueCheck>();
  for (const [status, expected] of Object.entries(config)) {
    const check = compileValue(expected);
    if ('problem' in check) report('scenario.bad_expectation', pointerTo(pointer, status), check.problem);
    else counts.set(status, check);
  }
  return counts;
}

/** Checks the numbers; statuses that are not expected must not occur. */
export function countMismatches(
  counts: Counts,
  tally: ReadonlyMap<string, number>,
  pointer: string,
): Mismatch[] {
  const names = [...new Set([...counts.keys(), ...tally.keys()])].sort();
  const holds = names.every((name) => counts.get(name)?.holds(tally.get(name) ?? 0) ?? false);
  if (holds) return [];
  const expected = Array.from(counts, ([name, { message }]) => `${message} × ${name}`).sort();
  const received = names.flatMap((name) => (tally.has(name) ? [`${tally.get(name)} × ${name}`] : []));
  return [
    {
      what: 'counts',
      expected: expected.join(', ') || 'none',
      received: received.join(', ') || 'none',
      pointer,
    },
  ];
}
